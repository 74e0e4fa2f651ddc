// Clients that create invoices, each with an Idempotency-Key, change and read them, and repeat each request until it is answered.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

interface Written {
	readonly id: string
	/** Which is also in the notes of the invoice. */
	readonly key: string
	/** When the request began that was answered 201, and when the answer came, in ms of performance.now(). */
	readonly began: number
	readonly ended: number
	/** Whether its change was answered 200. */
	isSent: boolean
}

interface Failed {
	/** When the attempt ended. */
	readonly at: number
	/** The status, or the error of the connection. */
	readonly why: string
}

const count = 12
/** A request that is answered later than this after its first attempt did not come through. */
const patienceMs = 90_000
const restMs = 200
const answerMs = 20_000

/** Answers after which the same request is repeated: it had no effect, or nobody knows. */
const isToRepeat = (status: number) => status >= 500 || status === 429 || status === 409

export class Clients {
	readonly written: Written[] = []
	readonly failed: Failed[] = []
	requests = 0
	/** Answers without what was answered as written before. */
	oldReads = 0
	readonly #url: string
	readonly #keys: readonly string[]
	/** When a client that only reads was answered. */
	readonly #reads: number[] = []
	#isOver = false
	#running: Promise<void>[] = []

	/** `keys` are API keys, one an organization. */
	constructor(url: string, keys: readonly string[]) {
		this.#url = url
		this.#keys = keys
	}

	begin(): void {
		this.#running = Array.from({ length: count }, (_, index) => this.#client(this.#keys[index % this.#keys.length] as string))
		this.#running.push(this.#reader(this.#keys[0] as string))
		// `end` throws what ends a client.
		for (const one of this.#running) one.catch(() => {})
	}

	/** Resolves when so many writes are answered. */
	async first(count: number): Promise<void> {
		while (this.written.length < count) await sleep(20)
	}

	/** Begins nothing more, and resolves when each write is answered. */
	async end(): Promise<void> {
		this.#isOver = true
		await Promise.all(this.#running)
	}

	/** The longest time without a write that was answered with success since a moment, in seconds. */
	pauseOfWrites(since: number): number {
		const times = this.written.map(({ ended }) => ended)
		return longestPause(since, times)
	}

	/** As `pauseOfWrites`, of the client that only reads. */
	pauseOfReads(since: number): number {
		return longestPause(since, this.#reads)
	}

	/** Seconds from a moment to the end of the last attempt that failed; 0 when none did. */
	lastFailure(since: number): number {
		return Math.max(0, ...this.failed.filter(({ at }) => at > since).map(({ at }) => at - since)) / 1_000
	}

	async #client(apiKey: string): Promise<void> {
		while (!this.#isOver) {
			await this.#write(apiKey)
			await sleep(5)
		}
	}

	async #reader(apiKey: string): Promise<void> {
		while (!this.#isOver) {
			await this.#untilDone(apiKey, '/api/invoices?limit=1', { method: 'GET' })
			this.#reads.push(performance.now())
			await sleep(50)
		}
	}

	/** Creates an invoice, marks it as sent, and reads it. */
	async #write(apiKey: string): Promise<void> {
		const key = randomUUID()
		const body = JSON.stringify({ totalCents: 12_500, currency: 'EUR', dueDate: '2031-03-31', notes: key })
		const headers = { 'idempotency-key': key }
		const created = await this.#untilDone(apiKey, '/api/invoices', { method: 'POST', body, headers })
		const { id } = JSON.parse(created.text) as { id: string }
		const written = { id, key, began: created.began, ended: performance.now(), isSent: false }
		this.written.push(written)
		const path = `/api/invoices/${id}`
		await this.#untilDone(apiKey, path, { method: 'PATCH', body: JSON.stringify({ status: 'sent' }) })
		written.isSent = true
		const read = await this.#untilDone(apiKey, path, { method: 'GET' })
		const { invoiceNumber } = (JSON.parse(read.text) as { data: { invoiceNumber: string } }).data
		const listed = await this.#untilDone(apiKey, `/api/invoices?status=sent&search=${invoiceNumber}`, { method: 'GET' })
		if (!read.text.includes('"sent"') || !listed.text.includes(id)) this.oldReads++
	}

	/** Repeats a request until it is answered with success. */
	async #untilDone(apiKey: string, path: string, request: RequestInit): Promise<{ text: string; began: number }> {
		const first = performance.now()
		while (performance.now() < first + patienceMs) {
			const began = performance.now()
			const { status, text } = await this.#ask(apiKey, path, request)
			this.requests++
			if (status === 200 || status === 201) return { text, began }
			this.#fail({ status, text })
			if (status > 0 && !isToRepeat(status)) throw new Error(`${request.method} ${path}: ${status} ${text}`)
			await sleep(restMs)
		}
		throw new Error(`${request.method} ${path}: no success within ${patienceMs / 1_000} s`)
	}

	/** Status 0 stands for a connection that failed. */
	async #ask(apiKey: string, path: string, { headers, ...request }: RequestInit): Promise<{ status: number; text: string }> {
		try {
			const response = await fetch(this.#url + path, {
				...request,
				headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...(headers as object) },
				signal: AbortSignal.timeout(answerMs),
			})
			return { status: response.status, text: await response.text() }
		} catch (error) {
			const { cause, message } = error as Error & { cause?: { code?: string } }
			return { status: 0, text: cause?.code ?? message }
		}
	}

	#fail({ status, text }: { status: number; text: string }): void {
		this.failed.push({ at: performance.now(), why: status === 0 ? text : `${status} ${codeOf(text)}` })
	}
}

function longestPause(since: number, times: readonly number[]): number {
	const after = [since, ...times.filter((at) => at > since).toSorted((one, other) => one - other)]
	return Math.max(0, ...after.slice(1).map((at, index) => at - (after[index] as number))) / 1_000
}

/** The error's code; HAProxy's own answers have none. */
function codeOf(text: string): string {
	try {
		return (JSON.parse(text) as { code: string }).code
	} catch {
		return 'of HAProxy'
	}
}
