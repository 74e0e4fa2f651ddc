// The browser of the tests. CHROMIUM_PATH names it; the default is one of Debian's, the headless shell first: it is the same engine without the
// program around it, and the tests take a quarter less CPU.
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const executablePath = process.env.CHROMIUM_PATH ?? places.find((path) => existsSync(path))

export const hasBrowser = executablePath !== undefined && existsSync(executablePath)

/** The browser asks nobody for updates, and speaks HTTP over TCP alone. */
const quiet = [
	...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
	...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

export const launchBrowser = (...args: string[]): Promise<Browser> =>
	chromium.launch({ ...(executablePath && { executablePath }), args: [...quiet, ...args] })
