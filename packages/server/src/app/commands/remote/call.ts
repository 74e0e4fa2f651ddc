// Sends what a command of `remit api` says, and prints the answer.
import { readFileSync, writeFileSync, writeSync } from 'node:fs'
import { ApiError, type Core } from '@remit/sdk/core'
import { type JsonSchema, membersOf } from '../../../platform/contract/document.ts'
import type { Operation } from '../../../platform/contract/routes.ts'
import { print, UsageError } from '../command.ts'
import { type RemoteOptions, requireKey } from './remote.ts'
import { readInput, utf8 } from './text.ts'

/** A part of a request that has an option of its own. */
export interface Field extends Part {
	/** The name that commander gives to its value. */
	readonly attribute: string
}

export interface Part {
	readonly name: string
	readonly in: 'query' | 'header' | 'body'
	readonly schema: JsonSchema
	readonly description?: string | undefined
}

export interface CallOptions extends RemoteOptions {
	readonly data?: string
	readonly all?: boolean
	readonly output?: string
	readonly [field: string]: unknown
}

interface Callable {
	readonly operation: Operation
	readonly fields: readonly Field[]
	/** The media type of an answer that is a file. */
	readonly file: string | undefined
}

export async function call(callable: Callable, ids: readonly string[], options: CallOptions): Promise<void> {
	const { operation, file } = callable
	const { method, path } = operation
	const { openCore, toUsageError } = await import('./client.ts')
	const core = openCore(operation.public ? options.apiKey : requireKey(options), options.url)
	const request = await requestOf(callable, ids, options)
	try {
		if (file) return save(await core.bytes(method, path, file, request), options.output ?? '-')
		if (options.all) return await printAll(core, path, request)
		const answer = await core.send(method, path, request)
		print(options, answer ?? null, JSON.stringify(answer ?? null, null, 2))
	} catch (error) {
		throw withPlaces(toUsageError(error, options.url), error)
	}
}

type Request = Parameters<Core['send']>[2]

/** The option of the SDK that sends each header of the contract. */
const optionOf: Record<string, string> = {
	'Idempotency-Key': 'idempotencyKey',
	'If-Match': 'ifMatch',
	'If-None-Match': 'ifNoneMatch',
}

async function requestOf({ operation, fields }: Callable, ids: readonly string[], options: CallOptions): Promise<Request> {
	const given = (place: Field['in']) =>
		Object.fromEntries(
			fields.flatMap(({ name, in: where, schema, attribute }) => {
				const text = options[attribute]
				return where === place && text !== undefined ? [[name, place === 'body' ? toValue(schema, String(text)) : text]] : []
			}),
		)
	const names = [...operation.path.matchAll(/\{(.+?)\}/g)].map(([, name]) => name as string)
	const fieldsOfBody = given('body')
	const isAsked = options.data === undefined && operation.body !== 'none' && Object.keys(fieldsOfBody).length === 0
	const data = options.data !== undefined ? await jsonOf(options.data) : isAsked ? await pipedJson() : undefined
	const hasBody = data !== undefined || Object.keys(fieldsOfBody).length > 0
	const isMixed = typeof data === 'object' && data !== null && !Array.isArray(data)
	return {
		path: Object.fromEntries(names.map((name, at) => [name, ids[at] as string])),
		query: given('query'),
		...(hasBody && { body: data === undefined || isMixed ? { ...(data as object), ...fieldsOfBody } : data }),
		options: Object.fromEntries(Object.entries(given('header')).map(([name, value]) => [optionOf[name], value])),
		// Sent again after a passing failure, with the same key.
		...(operation.idempotent && { repeat: 'key' as const }),
	}
}

/** The value that a text stands for. One that does not fit is left to the server, whose error names its place. */
function toValue(schema: JsonSchema, text: string): unknown {
	const types = membersOf(schema).map(({ type }) => type)
	if (text === 'null' && types.includes('null')) return null
	if (types.includes('string')) return text
	if (types.includes('array')) return text.split(',')
	return /^(-?\d+(\.\d+)?|true|false)$/.test(text) ? JSON.parse(text) : text
}

async function jsonOf(given: string): Promise<unknown> {
	const text = given === '-' ? await readInput() : given.startsWith('@') ? readFile(given.slice(1)) : given
	return parsed(text, '--data')
}

function parsed(text: string, from: string): unknown {
	try {
		return JSON.parse(text)
	} catch (error) {
		throw new UsageError(`${from}: is not JSON: ${(error as Error).message}`)
	}
}

/** What is piped in, without `--data`; undefined when nothing is, as beside /dev/null. */
async function pipedJson(): Promise<unknown> {
	const waiting = setTimeout(
		() => console.error('Waits for the body on standard input: --data {} or </dev/null sends none.'),
		3_000,
	)
	const text = (await readInput()).trim()
	clearTimeout(waiting)
	return text === '' ? undefined : parsed(text, 'standard input')
}

function readFile(path: string): string {
	const from = `--data @${path}`
	try {
		return utf8(readFileSync(path), from)
	} catch (error) {
		throw error instanceof UsageError ? error : new UsageError(`${from}: ${(error as Error).message}`)
	}
}

function save(bytes: Uint8Array, output: string): void {
	if (output === '-') writeSync(process.stdout.fd, bytes)
	else writeFileSync(output, bytes)
}

async function printAll(core: Core, path: string, request: Request): Promise<void> {
	for await (const record of core.page(path, { ...request, pageSize: 100 })) console.log(JSON.stringify(record))
}

/** The sentence for the user, and below it a line for each mistake in the request. */
function withPlaces(sentence: unknown, error: unknown): unknown {
	if (!(sentence instanceof UsageError && error instanceof ApiError) || error.errors.length === 0) return sentence
	const lines = error.errors.map(({ pointer, parameter, detail }) => `  ${pointer ?? parameter ?? ''}: ${detail}`)
	return new UsageError([sentence.message, ...lines].join('\n'))
}
