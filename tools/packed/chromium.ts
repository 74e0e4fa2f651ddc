// Chromium at CHROMIUM_PATH, or where Debian installs it.
import { existsSync } from 'node:fs'
import { chromium, type Page } from 'playwright-core'

/** Does the work with a new page; undefined where there is no Chromium. */
export async function inChromium<Done>(work: (page: Page) => Promise<Done>): Promise<Done | undefined> {
	const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
	if (!existsSync(executablePath)) return undefined
	const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
	try {
		return await work(await browser.newPage())
	} finally {
		await browser.close()
	}
}
