"""What legal search answers: laws and articles, how they stand on a day, and the cards that show them."""
