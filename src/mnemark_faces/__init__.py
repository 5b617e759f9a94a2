"""What people look at: pages in a browser, a panel in a terminal. Nothing in `mnemark` imports it."""
