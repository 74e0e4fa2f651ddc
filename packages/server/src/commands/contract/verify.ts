// `remit contract verify`: walks the operations of a running server, and says where it does not keep its contract.
import { writeFileSync } from 'node:fs'
import { version } from '../../contract/document.ts'
import { operations } from '../../contract/routes.ts'
import { UsageError } from '../command.ts'
import { codeOf } from './answers.ts'
import { Findings } from './findings.ts'
import { probe } from './probes.ts'
import { junitOf, summaryOf, tableOf } from './report.ts'
import { ServerUnderTest } from './server-under-test.ts'

export interface VerifyOptions {
	readonly apiKey: string
	readonly url: string
	readonly shared?: boolean
	readonly junit?: string
	readonly json?: boolean
}

/** Returns whether the server keeps its contract. */
export async function verify({ apiKey, url, shared = false, junit, json = false }: VerifyOptions): Promise<boolean> {
	const begun = Date.now()
	const findings = new Findings()
	const server = new ServerUnderTest(url, apiKey, findings)
	await requireServer(server)
	if (!shared) await requireEmpty(server)
	let fault: unknown
	try {
		await server.useOwnKeys()
		const scopes = ['tax_rates:read', 'companies:read']
		const limitedKeys: { scope: string; key: string }[] = []
		for (const scope of scopes) limitedKeys.push({ scope, key: await server.newKey([scope]) })
		for (const operation of operations) await probe({ server, shared, limitedKeys }, operation)
		await reachLimit(server)
	} catch (error) {
		fault = error
	}
	await server.cleanUp()
	if (fault !== undefined) throw fault
	const rows = findings.rows()
	const seconds = (Date.now() - begun) / 1000
	if (junit !== undefined) writeFileSync(junit, junitOf(findings, seconds))
	const left = Object.fromEntries(server.left)
	const isKept = rows.every(({ faults }) => faults.length === 0)
	if (json) console.log(JSON.stringify({ version, isKept, requests: server.requests, made: server.madeCount, left, rows }))
	else console.log([tableOf(findings), summaryOf(findings, server, seconds)].join('\n'))
	return isKept
}

/** Ends with one line when the address or the key is wrong, or the server follows another version. */
async function requireServer(server: ServerUnderTest): Promise<void> {
	const answer = await server.ask('organization.get')
	const told = answer.headers.get('x-contract-version')
	if (told !== null && told !== version)
		throw new UsageError(
			`--url ${server.url}: follows the contract ${told}, and this command has ${version}: use that of ${told}`,
		)
	if (answer.status === 401 || answer.status === 403)
		throw new UsageError(`--api-key: ${server.url} refuses the key: ${(answer.body as { detail?: string }).detail}`)
	if (answer.status !== 200)
		throw new UsageError(`--url ${server.url}: GET /api/organization answers ${answer.status} ${codeOf(answer) ?? ''}`.trimEnd())
}

async function requireEmpty(server: ServerUnderTest): Promise<void> {
	for (const kind of ['companies', 'contacts', 'deals', 'invoices', 'payments', 'timeEntries', 'connections']) {
		const { body } = await server.ask(`${kind}.list`, { query: '?limit=1' })
		const { data } = (body ?? {}) as { data?: unknown[] }
		if (data && data.length > 0)
			throw new UsageError(
				`--api-key: its organization has ${kind}. Take a key of an organization for this alone (remit organizations create, remit keys create --scopes all), or say --shared`,
			)
	}
}

/** Reaches the limit of a key where that takes at most so many requests. */
const mostForLimit = 150

async function reachLimit(server: ServerUnderTest): Promise<void> {
	const id = 'webhooks.eventTypes.list'
	const key = await server.newKey(['read'])
	const first = await server.ask(id, { key, expectsLimit: true })
	const limit = Number(first.headers.get('x-ratelimit-limit') ?? Number.POSITIVE_INFINITY)
	if (limit > mostForLimit) return
	for (let sent = 1; sent <= limit; sent++) {
		const answer = await server.ask(id, { key, expectsLimit: true })
		if (answer.status === 429) return
	}
	const operation = operations.find((each) => each.id === id)
	if (operation)
		server.findings.fail(
			operation,
			429,
			'rate_limited',
			`status: 200 to request ${limit + 1} of a minute, of which there are ${limit}`,
		)
}
