// The browser that the page is tested in: CHROMIUM, else Debian's.
export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
