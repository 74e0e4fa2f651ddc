// Connects an account at a provider: by a page of the provider, or with credentials, which come from no argument and go into no output.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, ConnectionAuthType, ConnectionConfig, ConnectionCredentials, Provider, Remit } from '@remit/sdk'
import { read } from 'read'
import { print, UsageError } from '../command.ts'
import type { RemoteOptions } from './remote.ts'
import { plain, readInput } from './text.ts'

export interface ConnectOptions extends RemoteOptions {
	readonly name?: string
	readonly authType?: string
	readonly config?: string
}

/** Between two looks whether the person has let Remit in: 30 of the 100 requests that a key has a minute. */
const pollMs = 2_000

export async function connect(remit: Remit, providerId: string, options: ConnectOptions): Promise<void> {
	const provider = await requireProvider(remit, providerId)
	const name = options.name ?? provider.name
	const before = await findByName(remit, providerId, name)
	const authType = before?.authType ?? chooseAuthType(provider, options.authType)
	if (options.authType && options.authType !== authType)
		throw new UsageError(`--auth-type ${options.authType}: the connection ${before?.id} has ${authType}; choose another --name`)
	const config = options.config === undefined ? undefined : readConfigFile(options.config)
	const credentials = authType === 'oauth2' ? undefined : await askFor(authType, provider.name)
	const said = { ...(config && { config }), ...(credentials && { credentials }) }
	let id = before?.id
	if (id === undefined) id = (await remit.connections.create({ provider: providerId, name, authType, ...said })).id
	else if (config || credentials) await remit.connections.update(id, said)
	const connection = authType === 'oauth2' ? await authorize(remit, id) : await remit.connections.test(id)
	if (connection.status !== 'active')
		throw new UsageError(`The connection ${id} is ${connection.status}: ${plain(connection.statusReason ?? 'nobody knows why')}`)
	print(options, connection, `Connected ${id} (${plain(name)})${accountOf(connection)}.`)
}

const accountOf = ({ account }: Connection) =>
	account ? `, the account ${plain([account.externalId, account.displayName].filter(Boolean).join(', '))}` : ''

async function requireProvider(remit: Remit, id: string): Promise<Provider> {
	const known: string[] = []
	for await (const provider of remit.connections.providers.list()) {
		if (provider.id === id) return provider
		known.push(provider.id)
	}
	throw new UsageError(`${id}: is none of the providers ${known.join(', ')}`)
}

async function findByName(remit: Remit, provider: string, name: string): Promise<Connection | undefined> {
	for await (const connection of remit.connections.list({ limit: 100 }))
		if (connection.provider === provider && connection.name === name) return connection
	return undefined
}

function chooseAuthType({ id, authTypes, configured }: Provider, asked: string | undefined): ConnectionAuthType {
	const possible = asked
		? authTypes.filter((type) => type === asked)
		: authTypes.filter((type) => configured || type !== 'oauth2')
	const [type = asked ? undefined : authTypes[0]] = possible
	if (type) return type
	throw new UsageError(`--auth-type ${asked}: ${id} has ${authTypes.join(', ')}`)
}

function readConfigFile(file: string): ConnectionConfig {
	try {
		return JSON.parse(readFileSync(file, 'utf8'))
	} catch (error) {
		throw new UsageError(`--config ${file}: ${(error as Error).message}`)
	}
}

type Question = readonly [field: keyof ConnectionCredentials, words: string, isSecret: boolean]

const questions: Readonly<Partial<Record<string, readonly Question[]>>> = {
	api_key: [['apiKey', 'API key', true]],
	basic: [
		['username', 'User name', false],
		['password', 'Password', true],
	],
	client_credentials: [
		['clientId', 'Client id', false],
		['clientSecret', 'Client secret', true],
	],
}

async function askFor(authType: ConnectionAuthType, provider: string): Promise<ConnectionCredentials> {
	const asked = questions[authType] ?? []
	const lines = process.stdin.isTTY ? undefined : (await readInput()).split('\n')
	const given: ConnectionCredentials = {}
	for (const [at, [field, words, silent]] of asked.entries()) {
		const prompt = { prompt: `${words} of ${provider}: `, silent, output: process.stderr }
		const value = (lines ? (lines[at] ?? '') : await ask(prompt)).trim()
		if (value === '')
			throw new UsageError(`${words}: is needed, ${lines ? `as line ${at + 1} of standard input` : 'and was empty'}`)
		given[field] = value
	}
	return given
}

/** Rejects on Ctrl-C. */
async function ask(options: Parameters<typeof read>[0]): Promise<string> {
	try {
		return String(await read(options))
	} catch {
		throw new UsageError('Nothing was connected.')
	} finally {
		// A line that is not shown is not ended either.
		if (options.silent) process.stderr.write('\n')
	}
}

/** Waits until a person has let Remit in, or said no, or the URL has expired. */
async function authorize(remit: Remit, id: string): Promise<Connection> {
	const before = await remit.connections.get(id)
	const { url, expiresAt } = await remit.connections.authorize(id)
	console.error(`Open this page in a browser, by ${new Date(expiresAt).toTimeString().slice(0, 5)}:\n\n  ${url}\n`)
	for (const giveUpAt = Date.now() + 600_000; Date.now() < giveUpAt; await sleep(pollMs)) {
		const connection = await remit.connections.get(id)
		if ((connection.lastError?.at ?? 0) > (before.lastError?.at ?? 0))
			throw new UsageError(`Not connected: ${plain(connection.lastError?.detail)}`)
		if (connection.status !== 'active' || connection.lastSuccessAt === before.lastSuccessAt) continue
		// Names the account.
		return remit.connections.test(id)
	}
	throw new UsageError('Not connected: nobody let Remit in on that page in time.')
}
