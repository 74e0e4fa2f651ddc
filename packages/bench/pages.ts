// Section `pages` measures the web application over the 10,000 invoices of the run: Lighthouse as a phone of the middle range, and
// how soon and how smoothly the list of invoices shows. Lighthouse is fetched by npx, since it would be a quarter of all packages.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createPerson } from '../server/src/accounts/people/store.ts'
import { beginSession } from '../server/src/accounts/sessions/store.ts'
import { newToken } from '../server/src/platform/auth/session-cookie.ts'
import { bySystem } from '../server/src/platform/base/origin.ts'
import type { Run } from './context.ts'
import { copyDatabase, withDatabase } from './databases.ts'
import { median } from './measure.ts'
import { driverCore, pin, type Server } from './processes.ts'
import { startRemit } from './remit.ts'
import { check, print, table, title } from './report.ts'
import { newFolder } from './resources.ts'

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

const version = '13.5.0'
const categories = { performance: 90, accessibility: 100, 'best-practices': 100 } as const

const [mostMs, mostFrameMs] = [1_000, 17]

export async function pages(run: Run): Promise<void> {
	if (!existsSync(executablePath)) return print('Pages: skipped, Chromium is not installed\n')
	const folder = copyDatabase('pages', run.database)
	const token = await signIn(folder, run.seed.organizationId)
	const server = await startRemit('pages', run.server, { DATA_DIR: folder })
	// A browser has a process for each part of its work.
	pin('0,1')
	await lighthouse(server, token, run)
	const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-quic'] })
	await list(browser, server, token)
	await browser.close()
	pin(driverCore)
	await server.stop()
}

/** The cookie of a new admin's session. */
function signIn(folder: string, organizationId: string): Promise<string> {
	const token = newToken()
	return withDatabase({ folder }, (db) =>
		db.transaction(async (tx) => {
			const write = { db: tx, origin: bySystem(Date.now()) }
			const person = { organizationId, email: 'ada@bench.example', name: 'Ada', role: 'admin', passwordHash: null } as const
			await beginSession(write, await createPerson(write, person), { token, userAgent: 'bench' })
			return token
		}),
	)
}

async function lighthouse({ url }: Server, token: string, { seed, quick }: Run): Promise<void> {
	const invoice = seed.invoiceIds.at(-1)
	const paths = { dashboard: '', invoices: '/invoices', invoice: `/invoices/${invoice}`, editor: `/invoices/${invoice}/edit` }
	const rows: string[][] = []
	for (const [name, path] of Object.entries(paths)) {
		const runs: Record<string, number>[] = []
		for (let n = 0; n < (quick ? 1 : 3); n++) runs.push(await scores(`${url}/app${path}`, token))
		const cells = Object.entries(categories).map(([category, least]) => {
			const score = median(runs.map((run) => run[category] ?? 0))
			return `${score} ${check(`Lighthouse, ${category} of ${name}: ${score}`, score >= least)}`
		})
		rows.push([name, ...cells])
	}
	title(`Lighthouse ${version} on a phone (targets: ${Object.values(categories).join(', ')})`)
	table(['', ...Object.keys(categories)], rows)
}

/** The score of each category, of 100. */
async function scores(url: string, token: string): Promise<Record<string, number>> {
	const report = join(newFolder('lighthouse'), 'report.json')
	const options = [
		...[url, '--quiet', '--output=json', `--output-path=${report}`, `--only-categories=${Object.keys(categories).join(',')}`],
		...[`--extra-headers=${JSON.stringify({ Cookie: `remit=${token}` })}`, '--no-enable-error-reporting'],
		'--chrome-flags=--headless=new --no-sandbox --disable-quic',
	]
	const env = { ...process.env, CHROME_PATH: executablePath }
	const audit = async () => {
		const child = spawn('npx', ['-y', `lighthouse@${version}`, ...options], { env, stdio: ['ignore', 'ignore', 'inherit'] })
		return new Promise((ended) => child.once('close', ended))
	}
	// Now and then it misses the beginning of its own recording.
	if ((await audit()) !== 0 && (await audit()) !== 0) throw new Error(`lighthouse failed twice for ${url}`)
	const result: { categories: Record<string, { score: number }> } = JSON.parse(readFileSync(report, 'utf8'))
	return Object.fromEntries(Object.entries(result.categories).map(([name, { score }]) => [name, Math.round(score * 100)]))
}

async function list(browser: Browser, { url }: Server, token: string): Promise<void> {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
	await context.addCookies([{ name: 'remit', value: token, url, httpOnly: true, sameSite: 'Strict' }])
	const times: number[] = []
	const page = await context.newPage()
	for (let n = 0; n < 5; n++) {
		await page.goto('about:blank')
		const begun = performance.now()
		await page.goto(`${url}/app/invoices`)
		await page.locator('tbody tr').nth(5).waitFor()
		times.push(performance.now() - begun)
	}
	const frames = await framesOf(page)
	const [ms, frame] = [median(times), median(frames)]
	const late = frames.filter((time) => time > 2 * mostFrameMs).length / frames.length
	title('The list of 10,000 invoices')
	print(`\n- opens in ${ms.toFixed(0)} ms (target: < ${mostMs}) ${check(`list opens: ${ms.toFixed(0)} ms`, ms < mostMs)}`)
	const met = check(`a frame while it scrolls: ${frame.toFixed(1)} ms`, frame <= mostFrameMs)
	print(`- a frame while it scrolls: ${frame.toFixed(1)} ms (target: ≤ ${mostFrameMs}) ${met}`)
	print(`- frames that are late by one or more: ${(late * 100).toFixed(1)} % of ${frames.length}\n`)
	await context.close()
}

/** Runs in the page. */
const watchFrames = `new Promise((done) => {
	const times = []
	const end = performance.now() + 5_000
	let last = performance.now()
	const next = (now) => {
		times.push(now - last)
		last = now
		now < end ? requestAnimationFrame(next) : done(times)
	}
	requestAnimationFrame(next)
})`

/** How long each frame took, in ms, while the wheel is turned for some seconds. */
async function framesOf(page: Page): Promise<number[]> {
	await page.mouse.move(600, 500)
	const frames = page.evaluate<number[]>(watchFrames)
	let isOver = false
	frames.finally(() => {
		isOver = true
	})
	while (!isOver) await page.mouse.wheel(0, 120)
	return frames
}
