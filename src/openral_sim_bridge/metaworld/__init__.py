"""MetaWorld v3: the Sawyer arm over a table, fifty tasks."""
