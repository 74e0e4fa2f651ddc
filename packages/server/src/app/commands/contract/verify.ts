// `remit contract verify`: walks the operations of a running server, and says where it does not keep its contract.

import { codeOf } from '../../../platform/contract/answers.ts'
import { version } from '../../../platform/contract/document.ts'
import { type Operation, operations } from '../../../platform/contract/routes.ts'
import { UsageError } from '../command.ts'
import { Findings, type Row } from './findings.ts'
import { probe } from './probes.ts'
import { junitOf, summaryOf, tableOf } from './report.ts'
import { ServerUnderTest } from './server-under-test.ts'

export interface VerifyOptions {
	readonly apiKey: string
	readonly url: string
	readonly shared?: boolean
	readonly testPayments?: boolean
	/** Ids of operations, or what they begin with; all when absent. */
	readonly only?: readonly string[] | undefined
}

export interface Verified {
	readonly isKept: boolean
	readonly rows: readonly Row[]
	/** For people. */
	readonly text: string
	readonly junit: string
}

export async function verify({ apiKey, url, shared = false, testPayments = false, only }: VerifyOptions): Promise<Verified> {
	const begun = Date.now()
	const walked = only ? operations.filter(({ id }) => only.some((part) => id === part || id.startsWith(`${part}.`))) : operations
	if (walked.length === 0) throw new UsageError(`--only ${only}: the contract has no such operation`)
	const findings = new Findings(walked)
	const server = new ServerUnderTest(url, apiKey, findings)
	await requireServer(server)
	if (!shared) await requireEmpty(server)
	try {
		await server.useOwnKeys()
		const limitedKeys: { scope: string; key: string }[] = []
		for (const scope of ['tax_rates:read', 'companies:read']) limitedKeys.push({ scope, key: await server.newKey([scope]) })
		for (const operation of walked) await probe({ server, shared, testPayments, limitedKeys }, operation)
		const limited = walked.find(({ id }) => id === limitedId)
		if (limited) await reachLimit(server, limited)
	} finally {
		await server.cleanUp()
	}
	const seconds = (Date.now() - begun) / 1000
	const rows = findings.rows()
	return {
		isKept: rows.every(({ faults }) => faults.length === 0),
		rows,
		text: `${tableOf(findings)}\n${summaryOf(findings, server, seconds)}`,
		junit: junitOf(findings, seconds),
	}
}

/** Ends with one line when the address or the key is wrong, or the server follows another version. */
async function requireServer(server: ServerUnderTest): Promise<void> {
	const answer = await server.ask('organization.get')
	const told = answer.headers.get('x-contract-version')
	if (told !== null && told !== version)
		throw new UsageError(
			`--url ${server.url}: follows the contract ${told}, and this command has ${version}: use that of ${told}`,
		)
	if (told === null && answer.status < 500)
		throw new UsageError(
			`--url ${server.url}: is no Remit server: GET /api/organization answers ${answer.status} without X-Contract-Version`,
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

/** Changes nothing, and answers much the same on any server. */
const limitedId = 'webhooks.eventTypes.list'

async function reachLimit(server: ServerUnderTest, operation: Operation): Promise<void> {
	const key = await server.newKey(['read'])
	const first = await server.ask(limitedId, { key, expectsLimit: true })
	const limit = Number(first.headers.get('x-ratelimit-limit') ?? Number.POSITIVE_INFINITY)
	if (limit > mostForLimit) return
	for (let sent = 1; sent <= limit; sent++) {
		const { status } = await server.ask(limitedId, { key, expectsLimit: true })
		if (status === 429) return
	}
	server.findings.fail(
		operation,
		429,
		'rate_limited',
		`status: 200 to request ${limit + 1} of a minute, of which there are ${limit}`,
	)
}
