"""What is kept, as a whole: saved and brought back, copied elsewhere, given to the person it is about, and deleted."""
