// The browser of the tests, which needs.ts finds.
import { type Browser, chromium } from 'playwright-core'
import { chromiumPath } from './needs.ts'

/** The browser asks nobody for updates, and speaks HTTP over TCP alone. */
const quiet = [
	...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
	...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

export const launchBrowser = (...args: string[]): Promise<Browser> =>
	chromium.launch({ ...(chromiumPath && { executablePath: chromiumPath }), args: [...quiet, ...args] })
