"""The outcome of a campaign as one HTML file: data first, rendering second."""
