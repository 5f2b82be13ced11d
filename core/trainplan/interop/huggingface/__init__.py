"""A config.json of Hugging Face as a model: what each architecture does by itself, and what no plan can hold."""
