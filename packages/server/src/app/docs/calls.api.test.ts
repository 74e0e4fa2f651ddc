// The calls that the reference shows, taken from the document that it reads and carried out: curl by a shell, the SDK's as a function.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { sampleOf } from '../../../test/samples.ts'
import { calls } from '../../generated/calls.ts'
import { type Operation, operations } from '../../platform/contract/routes.ts'

let server: TestServer
// Starts the shell of every call: to fork this process, which is large, takes 0.1 s of CPU.
const shell = spawn('bash', { stdio: ['pipe', 'pipe', 'inherit'] })
const exitCodes = createInterface(shell.stdout)[Symbol.asyncIterator]()
const descriptions = new Map<string, string>()
const folder = mkdtempSync(join(tmpdir(), 'remit-calls-'))
beforeAll(async () => {
	server = await startTestServer({ WEB: 'on' })
	const document = (await (await fetch(`${server.url}/docs/openapi.json`)).json()) as Document
	for (const { operationId, description } of Object.values(document.paths).flatMap((path) => Object.values(path)))
		descriptions.set(operationId, description)
})
afterAll(async () => {
	shell.stdin.end()
	await server.close()
	rmSync(folder, { recursive: true })
})

interface Document {
	readonly paths: Record<string, Record<string, { readonly operationId: string; readonly description: string }>>
}

type Ids = Readonly<Record<string, string>>

/** An organization that the operation's examples fit, the ids in its path by their names, and its call with ids of records. */
async function prepare(operation: Operation, language: 'ts' | 'sh') {
	const [, code = ''] = new RegExp(`\`\`\`${language}\n(.*?)\n\`\`\``, 's').exec(descriptions.get(operation.id) ?? '') ?? []
	const tenant = await server.newTenant()
	const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
	const made = names.length > 0 ? [await idOf(operation, tenant)].flat() : []
	const ids: Ids = Object.fromEntries(names.map((name, at) => [name, made[at] ?? '']))
	return { tenant, ids, code: await withRecords(code, tenant) }
}

/** Records that the examples fit, where those of the samples do not. */
const fitting: Record<string, (tenant: Tenant) => Promise<string>> = {
	'timeEntries.update': (tenant) => tenant.newTimeEntry({ startedAt: '2026-03-31T09:00:00+02:00' }),
	'timeEntries.replace': (tenant) => tenant.newTimeEntry({ startedAt: '2026-03-31T09:00:00+02:00' }),
	'payments.allocate': async ({ remit }) => (await remit.payments.create({ amountCents: 50_000, currency: 'USD' })).id,
	async 'connections.link'({ remit }) {
		await remit.organization.update({ connectReturnOrigins: ['https://app.acme.example'] })
		return (await remit.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })).id
	},
}

const idOf = async (operation: Operation, tenant: Tenant) =>
	(await (fitting[operation.id] ?? sampleOf(operation).make)?.(tenant)) ?? []

/** The examples name records that no organization has. */
async function withRecords(code: string, tenant: Tenant): Promise<string> {
	const named = /\b(cmp|dl|te|inv|con|map)_\w{10,}/g
	if (!named.test(code)) return code
	const { remit } = tenant
	const dl = await tenant.newDeal()
	const connection = {
		provider: 'hubspot',
		name: 'HubSpot',
		authType: 'api_key',
		credentials: { apiKey: secret('key') },
	} as const
	const fields = [{ target: 'name', source: 'properties.name', required: true }]
	const [source, target] = [
		{ system: 'hubspot', object: 'companies' } as const,
		{ system: 'internal', object: 'company' } as const,
	]
	const ids: Ids = {
		cmp: (await remit.companies.create({ name: 'Acme' })).id,
		dl,
		te: await tenant.newTimeEntry({ dealId: dl }),
		inv: (await remit.invoices.create({ totalCents: 50_000 })).id,
		con: (await remit.connections.create(connection)).id,
		map: (await remit.mappings.create({ name: 'Companies', source, target, fields, status: 'active' })).id,
	}
	return code.replaceAll(named, (_, kind) => ids[kind] as string)
}

/** Runs a script in a shell with these variables, none of which has a blank. */
async function run(script: string, variables: Ids) {
	writeFileSync(join(folder, 'call.sh'), script)
	const set = Object.entries({ PATH: process.env.PATH, ...variables }).map(([name, value]) => `${name}=${value}`)
	shell.stdin.write(`cd ${folder}; env -i ${set.join(' ')} bash -euo pipefail call.sh >output 2>&1; echo $?\n`)
	const { value: code } = await exitCodes.next()
	return { code: Number(code), output: readFileSync(join(folder, 'output'), 'utf8') }
}

/** Only a page of the server may call the others. */
const forPrograms = operations.filter(({ id }) => calls[id]?.curl)

describe.each(forPrograms)('$id', (operation) => {
	it('is called with curl as the reference says', async () => {
		const { tenant, ids, code } = await prepare(operation, 'sh')
		const script = code.replace('curl ', "curl --silent --show-error --write-out '\\n%{http_code}' ")
		const { code: exitCode, output } = await run(script, { REMIT_API_KEY: tenant.key, ...ids })
		expect(exitCode, output).toBe(0)
		expect(
			operation.statuses.filter((status) => status < 300),
			output,
		).toContain(Number(output.split('\n').at(-1)))
	})

	it('is called with the SDK as the reference says', async () => {
		const { tenant, ids, code } = await prepare(operation, 'ts')
		const shown: unknown[] = []
		const call = new AsyncFunction('remit', 'console', ...Object.keys(ids), code)
		await call(tenant.remit, { log: (text: unknown) => shown.push(text) }, ...Object.values(ids))
		expect(shown).not.toContain(undefined)
	})
})

const AsyncFunction = (async () => {}).constructor as new (...code: string[]) => (...values: unknown[]) => Promise<void>
