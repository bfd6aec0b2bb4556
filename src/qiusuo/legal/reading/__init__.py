"""Reading the writing of the law: names, numbers, references, dates, editions."""
