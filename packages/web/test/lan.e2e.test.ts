// Plain http from another machine of the network: a page that the browser does not call secure, and that has less of its API.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchBrowser } from '../../server/test/browser.ts'
import { freePort } from '../../server/test/free-port.ts'
import { needs } from '../../server/test/needs.ts'
import { Remit, type Served } from '../../server/test/remit.ts'
import { password } from './app.ts'

needs('chromium').describe('over http in a network', () => {
	const folder = mkdtempSync(join(tmpdir(), 'remit-lan-'))
	const remit = new Remit({ DATA_DIR: folder }, folder)
	let served: Served
	let browser: Browser
	beforeAll(async () => {
		const port = String(await freePort())
		served = await remit.serve({ PORT: port, BASE_URL: `http://remit.lan:${port}` })
		browser = await launchBrowser('--host-resolver-rules=MAP remit.lan 127.0.0.1')
	})
	afterAll(async () => {
		await browser?.close()
		await served?.end('SIGTERM')
		remit.stop()
		rmSync(folder, { recursive: true })
	})

	it('a person sets the server up, takes its first step, creates a company, and copies a new key', async () => {
		const page = await browser.newPage({ reducedMotion: 'reduce' })
		page.setDefaultTimeout(20_000)
		const errors: string[] = []
		page.on('pageerror', (error) => errors.push(String(error)))
		const field = (name: string) => page.getByLabel(name, { exact: true })
		const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
		await page.goto(served.setupUrl as string)
		expect(await page.evaluate('isSecureContext')).toBe(false)
		await field('Organization').fill('Network Ltd')
		await field('Your name').fill('Ada Lindqvist')
		await field('E-mail').fill('ada@network.example')
		await field('Password').fill(password)
		await page.locator('button[type=submit]').click()
		await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor()
		await page.getByRole('link', { name: 'Enter your address and tax number' }).click()
		await page.getByRole('heading', { level: 1, name: 'Organization' }).waitFor()
		await page.goto(`${served.url}/app/companies/new`)
		await field('Name').fill('Acme GmbH')
		await press('Create company')
		await page.getByRole('heading', { level: 1, name: 'Acme GmbH' }).waitFor()
		await page.goto(`${served.url}/app/settings/keys`)
		await press('New key')
		await field('Name').fill('Web shop')
		await press('Create key')
		const key = await page.getByText(/^rmt_\w{20}/).textContent()
		await press('Copy: Key')
		await page.getByRole('button', { name: 'Copy: Key' }).getByText('Copied').waitFor()
		await press('Done')
		await page.keyboard.press('Control+k')
		await page.getByRole('combobox', { name: 'Search everything' }).focus()
		await page.keyboard.press('Control+v')
		expect(await page.getByRole('combobox', { name: 'Search everything' }).inputValue()).toBe(key)
		expect(errors).toEqual([])
	})
})
