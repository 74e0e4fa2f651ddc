// The records of one object of a fake vendor, with all their versions.
export type Json = Record<string, unknown>

export interface Stored {
	readonly id: string
	readonly createdAt: number
	readonly updatedAt: number
	readonly isRemoved: boolean
	readonly data: Readonly<Json>
}

export interface Change {
	readonly object: string
	readonly type: 'created' | 'updated' | 'deleted'
	readonly record: Stored
	/** From 1, over all objects of the vendor. */
	readonly number: number
}

export class Records {
	readonly #object: string
	readonly #options: RecordsOptions
	readonly #versions = new Map<string, Stored[]>()
	#sorted: Stored[] | undefined
	#made = 0

	constructor(object: string, options: RecordsOptions) {
		this.#object = object
		this.#options = options
	}

	/** Stores a new record, or another version of one in place of what it was. */
	put(data: Json, { id, at = this.#options.now() }: { id?: string; at?: number } = {}): Stored {
		const key = id ?? this.#options.id(++this.#made)
		const createdAt = this.get(key)?.createdAt ?? at
		return this.#write({ id: key, createdAt, updatedAt: at, isRemoved: false, data })
	}

	change(id: string, data: Json, at = this.#options.now()): Stored {
		const stored = this.require(id)
		return this.#write({ ...stored, updatedAt: at, data: { ...stored.data, ...data } })
	}

	/** What the vendor keeps of a removed record is for the vendor to say. */
	remove(id: string, at = this.#options.now()): Stored {
		return this.#write({ ...this.require(id), updatedAt: at, isRemoved: true })
	}

	get(id: string): Stored | undefined {
		return this.#versions.get(id)?.at(-1)
	}

	require(id: string): Stored {
		const stored = this.get(id)
		if (!stored) throw new Error(`${this.#object} has no ${id}`)
		return stored
	}

	/** All of them as they are, the removed ones too, in the vendor's order. */
	list(): readonly Stored[] {
		this.#sorted ??= [...this.#versions.values()].map((versions) => versions.at(-1) as Stored).sort(this.#options.order)
		return this.#sorted
	}

	/** All of them as they were. */
	asOf(time: number): readonly Stored[] {
		if (this.list().every(({ updatedAt }) => updatedAt <= time)) return this.list()
		const then = (versions: Stored[]) => versions.findLast(({ updatedAt }) => updatedAt <= time)
		return [...this.#versions.values()].flatMap((versions) => then(versions) ?? []).sort(this.#options.order)
	}

	clear(): void {
		this.#versions.clear()
		this.#sorted = undefined
	}

	#write(record: Stored): Stored {
		const versions = this.#versions.get(record.id)
		const type = record.isRemoved ? 'deleted' : versions ? 'updated' : 'created'
		if (versions) versions.push(record)
		else this.#versions.set(record.id, [record])
		this.#sorted = undefined
		this.#options.changed({ object: this.#object, type, record })
		return record
	}
}

export interface RecordsOptions {
	readonly now: () => number
	/** The id of the n-th record. */
	readonly id: (n: number) => string
	readonly order: (a: Stored, b: Stored) => number
	readonly changed: (change: Omit<Change, 'number'>) => void
}
