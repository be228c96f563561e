//! Runs made visible: pages for a browser, pictures, plots and reports. Knows run folders, not the terminal.
