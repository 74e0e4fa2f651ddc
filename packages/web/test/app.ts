// The web application in Chromium against the real server with the demo's data.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Remit as Client, type UserRole } from '@remit/sdk'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../../server/test/browser.ts'
import { secret } from '../../server/test/leaks.ts'
import { cli, type Environment, Remit, type Served } from '../../server/test/remit.ts'

export interface App {
	readonly url: string
	/** The page by which the first person comes in. */
	readonly setupUrl: string
	/** A client of the same organization, beside the browser. */
	readonly client: Client
	/** A person who is signed in. */
	newPerson(role: UserRole): Promise<Person>
	/** Opens an address below /app, such as `/companies`, as a person, or else as an admin, and waits until its heading is there. */
	openApp(path: string, options?: BrowserContextOptions & { person?: Person | null }): Promise<Opened>
	close(): Promise<void>
}

export interface Person {
	readonly email: string
	readonly name: string
	/** The value of the session's cookie. */
	readonly token: string
}

/** Of every person that `newPerson` makes. */
export const password = secret('password')

export interface Opened {
	readonly page: Page
	/** Whatever a page must never cause: messages of the console, failed requests, and requests to elsewhere. */
	readonly complaints: string[]
}

/**
 * `settings`: besides those of a server in development, on SQLite. Without the demo nothing is there, and the client has no key. `program`:
 * another command than that of the sources.
 */
export async function startApp(settings: Environment = {}, options: readonly string[] = ['--demo'], program = cli): Promise<App> {
	const folder = mkdtempSync(join(tmpdir(), 'remit-web-'))
	// The demo connects its CRM by the SDK, which need not be built.
	const NODE_OPTIONS = '--conditions=remit-source'
	const remit = new Remit(
		{ NODE_ENV: 'development', DATA_DIR: folder, INVOICING_RATE_LIMIT: '0', INTEGRATION_RATE_LIMIT: '0', NODE_OPTIONS },
		folder,
		program,
	)
	const served = await remit.serve(settings, options)
	const browser = await launchBrowser()
	const client = new Client({ apiKey: served.key ?? 'none', baseUrl: served.url })
	let admin: Promise<Person> | undefined
	let people = 0
	const newPerson = async (role: UserRole): Promise<Person> => {
		const email = `person${++people}@northlight.example`
		const name = ['Ada Lindqvist', 'Grace Okafor', 'Jana Vogel'][people % 3] as string
		const [, token] = (await client.invitations.create({ email, role })).url.split('#')
		const answer = await fetch(`${served.url}/api/invitations/accept`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
			body: JSON.stringify({ token, name, password }),
		})
		const cookie = /^remit=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1]
		if (cookie === undefined) throw new Error(`${email} cannot join: ${await answer.text()}`)
		return { email, name, token: cookie }
	}
	return {
		url: served.url,
		setupUrl: served.setupUrl as string,
		client,
		newPerson,
		async openApp(path, { person, ...options } = {}) {
			if (person === undefined) admin ??= newPerson('admin')
			return openApp(browser, served, person === undefined ? ((await admin) as Person) : person, path, options)
		},
		async close() {
			await browser.close()
			await served.end('SIGTERM')
			remit.stop()
			rmSync(folder, { recursive: true })
		},
	}
}

async function openApp(
	browser: Browser,
	{ url }: Served,
	person: Person | null,
	path: string,
	options?: BrowserContextOptions,
): Promise<Opened> {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options })
	// Below a test's own limit, so that a wait in vain says for what.
	context.setDefaultTimeout(20_000)
	const page = await context.newPage()
	const complaints: string[] = []
	page.on('console', (message) => complaints.push(message.text()))
	page.on('pageerror', (error) => complaints.push(String(error)))
	page.on(
		'request',
		(request) => /^(blob|data):/.test(request.url()) || request.url().startsWith(`${url}/`) || complaints.push(request.url()),
	)
	page.on('requestfailed', (request) => {
		// A page that is left ends its own requests.
		if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(`${request.url()} ${request.failure()?.errorText}`)
	})
	if (person) await context.addCookies([{ name: 'remit', value: person.token, url, httpOnly: true, sameSite: 'Strict' }])
	await page.goto(`${url}/app${path}`)
	await page.getByRole('heading', { level: 1 }).waitFor()
	return { page, complaints }
}
