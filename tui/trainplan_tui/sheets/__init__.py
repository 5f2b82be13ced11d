"""Sheets: questions, lists and whole pages that take rows from the bottom up and give them back. A sheet is a value plus keys;
it asks its host to act and never reaches into the app."""
