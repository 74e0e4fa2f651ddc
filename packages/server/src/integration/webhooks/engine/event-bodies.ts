// The bodies of the requests. An event goes to several endpoints at about the same time: what was read and put together for one is kept
// for a moment, for the others. Not for longer, since what is erased from an event must not be sent.
import type { Db } from '../../../platform/db/database.ts'
import { type EventKey, eventText, readEventRows } from '../../../platform/events/store.ts'

const keptMs = 1_000
const maxBytes = 4 * 2 ** 20

/** The body of an event that was asked for. */
export type BodyOf = (event: EventKey) => Buffer | undefined

const nameOf = ({ organizationId, id }: EventKey) => `${organizationId} ${id}`

export class EventBodies {
	readonly #bodies = new Map<string, Buffer>()
	#bytes = 0
	#since = 0

	/** One statement reads those that are not known; on SQLite, one each. */
	async of(db: Db, events: readonly EventKey[]): Promise<BodyOf> {
		this.#forget()
		const [found, missing] = [new Map<string, Buffer>(), new Map<string, EventKey>()]
		for (const event of events) {
			const name = nameOf(event)
			const body = this.#bodies.get(name)
			if (body) found.set(name, body)
			else missing.set(name, event)
		}
		for (const row of await readEventRows(db, [...missing.values()])) {
			const body = Buffer.from(eventText(row))
			const name = nameOf({ organizationId: row.organizationId, id: row.eventId })
			found.set(name, body)
			this.#bodies.set(name, body)
			this.#bytes += body.length
		}
		return (event) => found.get(nameOf(event))
	}

	#forget(): void {
		const now = performance.now()
		if (now - this.#since <= keptMs && this.#bytes <= maxBytes) return
		this.#bodies.clear()
		this.#bytes = 0
		this.#since = now
	}
}
