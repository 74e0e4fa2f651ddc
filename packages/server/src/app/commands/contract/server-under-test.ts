// The server that `remit contract verify` asks: it sends requests with keys of its own, checks every answer, and knows what it made.
import { setTimeout as sleep } from 'node:timers/promises'
import { scopes as allScopes } from '../../../platform/auth/keys.ts'
import { type Answer, AnswerChecker, codeOf } from '../../../platform/contract/answers.ts'
import { type Operation, operations } from '../../../platform/contract/routes.ts'
import { UsageError } from '../command.ts'
import type { Findings } from './findings.ts'

export interface Asked {
	/** What stands in the path, in its order. */
	readonly ids?: readonly string[]
	readonly query?: string
	/** Sent as JSON. */
	readonly body?: unknown
	/** Sent as it is, in place of `body`. */
	readonly raw?: string
	readonly headers?: Record<string, string>
	/** Another key; null sends none. */
	readonly key?: string | null
	/** Whether 429 is what is looked for; else the request waits and is sent again. */
	readonly expectsLimit?: boolean
}

/** The operation that makes the same kind of record at the path of the kind. */
const madeBy: Record<string, string> = { 'apiKeys.rotate': 'apiKeys.create', 'invoices.createFromTimeEntries': 'invoices.create' }

const checker = new AnswerChecker()

/** No record has this id. */
export const unknownId = 'unknown'

const answerMs = 30_000
const mostWaits = 3
/** A key is left when it has fewer requests than this in its minute. */
const reserve = 3

/** The ids in the path of a record that can be deleted. */
interface Made {
	readonly operation: Operation
	readonly ids: readonly string[]
}

export class ServerUnderTest {
	readonly url: string
	readonly findings: Findings
	readonly #mainKey: string
	#keys: Record<Operation['rateClass'], string>
	#readingKey: Promise<string> | undefined
	readonly #made: Made[] = []
	readonly #own = new Set<string>()
	/** What could not be removed, by operation that made it. */
	readonly left = new Map<string, number>()
	/** Seconds for which the server asked to wait. */
	waited = 0
	#requests = 0

	constructor(url: string, key: string, findings: Findings) {
		this.url = url.replace(/\/+$/, '')
		this.#mainKey = key
		this.#keys = { invoicing: key, integration: key }
		this.findings = findings
	}

	get requests(): number {
		return this.#requests
	}

	get madeCount(): number {
		return this.#own.size
	}

	/** Asks an operation, and notes what is wrong with the answer. */
	async ask(id: string, asked: Asked = {}): Promise<Answer> {
		const operation = operationOf(id)
		this.#refuseForeign(operation, asked.ids ?? [])
		const path = pathOf(operation, asked)
		for (let waits = 0; ; waits++) {
			const answer = await this.#send(operation, path, asked)
			this.findings.see(
				operation,
				answer,
				`${operation.method} ${path}`,
				checker.faultsOf(operation, answer, { method: operation.method, path }),
			)
			if (asked.key === undefined) await this.#changeKeyAfter(operation, answer)
			if (answer.status !== 429 || codeOf(answer) !== 'rate_limited' || asked.expectsLimit || waits === mostWaits) return answer
			const seconds = Math.min(Number(answer.headers.get('retry-after')) || 1, 60)
			this.waited += seconds
			await sleep(seconds * 1000)
		}
	}

	/** Creates a record, which is removed in the end; returns its id. */
	async make(id: string, body?: unknown, ids: readonly string[] = []): Promise<string> {
		const answer = await this.#succeed(id, { body, ids })
		const made = this.noteMade(id, answer, ids)
		if (made === undefined) throw new NotMadeError(`${id} answers without an id`)
		return made
	}

	/** The `data` of the answer, which succeeds. */
	async dataOf<T>(id: string, asked: Asked = {}): Promise<T> {
		const { body } = await this.#succeed(id, asked)
		return (body as { data: T }).data
	}

	async #succeed(id: string, asked: Asked): Promise<Answer> {
		const answer = await this.ask(id, asked)
		if (answer.status < 300) return answer
		const { detail = '' } = (answer.body ?? {}) as { detail?: string }
		throw new NotMadeError(`${id} answers ${answer.status} ${codeOf(answer) ?? ''}: ${detail}`)
	}

	/** Remembers the record that an answer is about, so that it can be changed, and is removed in the end. */
	noteMade(id: string, answer: Answer, ids: readonly string[] = []): string | undefined {
		const made = (answer.body as { id?: unknown } | undefined)?.id
		if (answer.status >= 300 || typeof made !== 'string') return undefined
		if (this.#own.has(made)) return made
		this.#own.add(made)
		const { path } = operationOf(madeBy[id] ?? id)
		const removal = operations.find(
			(operation) =>
				operation.method === 'DELETE' && operation.path.replace(/\/\{\w+\}$/, '') === path && operation.path !== path,
		)
		if (removal) this.#made.push({ operation: removal, ids: [...(madeBy[id] ? [] : ids), made] })
		else this.left.set(id, (this.left.get(id) ?? 0) + 1)
		return made
	}

	/** Lets an id of a part be used that came with a record of its own, such as a run. */
	own(id: string): string {
		this.#own.add(id)
		return id
	}

	/** Leaves the given key to what makes and deletes keys, so that it does not reach its limit. */
	async useOwnKeys(): Promise<void> {
		const key = await this.newKey(allScopes)
		this.#keys = { invoicing: key, integration: key }
	}

	/** A key that may do only this. */
	async newKey(scopes: readonly string[]): Promise<string> {
		const answer = await this.ask('apiKeys.create', { body: { name: 'Contract verification', scopes }, key: this.#mainKey })
		this.noteMade('apiKeys.create', answer)
		const { key } = (answer.body ?? {}) as { key?: string }
		if (key === undefined)
			throw new UsageError(`--api-key: it makes no other keys (${answer.status} ${codeOf(answer) ?? ''}); it needs every scope`)
		return key
	}

	/** A key that may only read, of the server as its own provider. */
	readingKey(): Promise<string> {
		this.#readingKey ??= this.newKey(['read', 'companies:read'])
		return this.#readingKey
	}

	/** Removes the records that were made, the last first, and then the keys that it asked with. */
	async cleanUp(): Promise<void> {
		const isKey = ({ operation }: Made) => operation.id.startsWith('apiKeys.')
		const records = this.#made.filter((made) => !isKey(made)).reverse()
		await this.#remove(records, undefined)
		await this.#remove(this.#made.filter(isKey), this.#mainKey)
	}

	async #remove(all: readonly Made[], key: string | undefined): Promise<void> {
		const inUse: Made[] = []
		for (const made of all) {
			const { operation, ids } = made
			const answer = await this.ask(operation.id, { ids, ...(key && { key }) })
			if (answer.status === 409) inUse.push(made)
			else if (answer.status >= 300 && answer.status !== 404)
				this.findings.fail(operation, answer.status, codeOf(answer), `clean-up: ${ids.join(' ')} is left`)
		}
		// Such as a deal that was made after the time that was moved to it.
		if (inUse.length > 0 && inUse.length < all.length) return this.#remove(inUse, key)
		// Such as a pipeline, which deals that were deleted still name.
		for (const { operation } of inUse) this.left.set(operation.id, (this.left.get(operation.id) ?? 0) + 1)
	}

	/** A record of others is never changed, whatever a mistake in the recipes or of the server says. */
	#refuseForeign({ id, method }: Operation, ids: readonly string[]): void {
		const foreign = method === 'GET' ? undefined : ids.find((each) => each !== unknownId && !this.#own.has(each))
		if (foreign !== undefined) throw new Error(`${id} would change ${foreign}, which this run has not made`)
	}

	async #send({ rateClass, method, public: isPublic }: Operation, path: string, asked: Asked): Promise<Answer> {
		const { body, raw, headers, key = isPublic ? null : this.#keys[rateClass] } = asked
		this.#requests++
		try {
			const response = await fetch(this.url + path, {
				method,
				redirect: 'manual',
				signal: AbortSignal.timeout(answerMs),
				headers: {
					...(key !== null && { authorization: `Bearer ${key}` }),
					...((body !== undefined || raw !== undefined) && { 'content-type': 'application/json' }),
					// As a browser says of a page of the server, from which people sign in.
					...(isPublic && { 'sec-fetch-site': 'same-origin' }),
					...headers,
				},
				...((raw ?? body) !== undefined && { body: raw ?? JSON.stringify(body) }),
			})
			const bytes = new Uint8Array(await response.arrayBuffer())
			return { status: response.status, headers: response.headers, bytes, body: jsonOf(response.headers, bytes) }
		} catch (error) {
			const { cause, message } = error as Error
			throw new UsageError(`--url ${this.url}: ${method} ${path}: ${cause instanceof Error ? cause.message : message}`)
		}
	}

	/** Goes on with a new key before the limit of the last one is reached. */
	async #changeKeyAfter({ rateClass }: Operation, { headers }: Answer): Promise<void> {
		const remaining = headers.get('x-ratelimit-remaining')
		if (remaining === null || Number(remaining) > reserve) return
		this.#keys[rateClass] = await this.newKey(allScopes)
	}
}

/** A record that the server does not make, so that what is about it cannot be asked. */
export class NotMadeError extends Error {}

const byId = new Map<string, Operation>(operations.map((operation) => [operation.id, operation]))

function operationOf(id: string): Operation {
	const found = byId.get(id)
	if (!found) throw new Error(`the contract has no operation ${id}`)
	return found
}

function pathOf({ path }: Operation, { ids = [], query = '' }: Asked): string {
	const left = [...ids]
	return path.replace(/\{\w+\}/g, () => encodeURIComponent(left.shift() ?? unknownId)) + query
}

function jsonOf(headers: Headers, bytes: Uint8Array): unknown {
	if (!/[/+]json/.test(headers.get('content-type') ?? '')) return undefined
	try {
		return JSON.parse(new TextDecoder().decode(bytes))
	} catch {
		return undefined
	}
}
