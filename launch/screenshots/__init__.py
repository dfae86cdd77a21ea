"""Pictures of every page, made on a service of their own; a page that complains in the browser fails them."""
