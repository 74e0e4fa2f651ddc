// Makes changes over HTTP by several clients at once, whenever a server runs. A request without an answer, because its server
// was killed, does not count: nobody knows whether its change was committed.

import { hash } from 'node:crypto'

/** Numbers from 0 to 1, always the same for a seed. */
export function randomFrom(seed: string): () => number {
	let drawn = 0
	return () => hash('sha256', `${seed} ${++drawn}`, 'buffer').readUInt32LE() / 2 ** 32
}

/** A change that was answered. */
export interface Change {
	/** The event that the change must have left. */
	readonly event: string
	readonly id: string
	/** The text that the change wrote; undefined when it deleted. */
	readonly text: string | undefined
}

interface Known {
	readonly path: '/api/invoices' | '/api/companies'
	readonly id: string
}

const clients = 16
/** The maximum of live records: few, so that each gets many changes. */
const maxRecords = 200

export class CrashWriter {
	readonly answered: Change[] = []
	/** Error answers, and requests that a live server did not answer. */
	readonly problems: string[] = []
	readonly #key: string
	readonly #random: () => number
	readonly #urls: string[] = []
	#someServer = Promise.withResolvers<void>()
	#count = 0
	#records: Known[] = []

	constructor(key: string, random: () => number) {
		this.#key = key
		this.#random = random
	}

	join(url: string): void {
		this.#urls.push(url)
		this.#someServer.resolve()
	}

	/** The test calls this as soon as it has killed a server. */
	leave(url: string): void {
		this.#urls.splice(this.#urls.indexOf(url), 1)
		if (this.#urls.length === 0) this.#someServer = Promise.withResolvers()
	}

	/** Makes changes until `count` have been answered; calls `onAnswer` after each with their number. */
	async write(count: number, onAnswer: (answered: number) => void): Promise<void> {
		let [open, answered] = [count, 0]
		const client = async () => {
			while (open > 0 && this.problems.length === 0) {
				open--
				await this.#someServer.promise
				const change = await this.#change()
				if (change) {
					this.answered.push(change)
					onAnswer(++answered)
				} else open++
			}
		}
		await Promise.all(Array.from({ length: clients }, client))
	}

	/** Creates, changes or deletes a record that no other client uses meanwhile. */
	async #change(): Promise<Change | undefined> {
		const text = `Change ${++this.#count}`
		const [record] = this.#records.splice(this.#draw(maxRecords), 1)
		if (!record) return this.#create(this.#draw(2) ? '/api/invoices' : '/api/companies', text)
		const { path, id } = record
		if (this.#draw(7) === 0) return (await this.#ask('DELETE', `${path}/${id}`)) && left(path, 'deleted', id)
		// A draft that is sent leaves two events.
		const more = path === '/api/invoices' ? { status: 'sent' } : {}
		if (!(await this.#ask('PATCH', `${path}/${id}`, { ...written(path, text), ...more }))) return undefined
		this.#records.push(record)
		return left(path, 'updated', id, text)
	}

	async #create(path: Known['path'], text: string): Promise<Change | undefined> {
		const answer = await this.#ask('POST', path, written(path, text))
		if (!answer?.id) return undefined
		this.#records.push({ path, id: answer.id })
		return left(path, 'created', answer.id, text)
	}

	/** The answer; undefined when there was none. */
	async #ask(method: string, path: string, body?: object): Promise<{ id?: string } | undefined> {
		const url = this.#urls[this.#draw(this.#urls.length)] ?? ''
		const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' }
		try {
			const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
			const text = await response.text()
			if (response.ok) return JSON.parse(text)
			this.problems.push(`${method} ${path}: ${response.status} ${text}`)
		} catch (error) {
			if (this.#urls.includes(url)) this.problems.push(`${method} ${path}: ${error}: ${(error as Error).cause}`)
		}
		return undefined
	}

	#draw(count: number): number {
		return Math.floor(this.#random() * count)
	}
}

const written = (path: Known['path'], text: string) => (path === '/api/invoices' ? { notes: text } : { name: text })

const left = (path: Known['path'], verb: string, id: string, text?: string): Change => ({
	event: `${path === '/api/invoices' ? 'invoice' : 'company'}.${verb}`,
	id,
	text,
})
