// Who is next when several wait: owners take turns, and each has one at a time, so that each waits for at most one of every
// other owner.

export interface Turn {
	readonly owner: string
	/** Whether it goes before the others of its owner. */
	isFirst: boolean
}

export interface TurnLimits {
	/** How many of an owner may wait, counted apart for those that go first and the others. */
	readonly ofOwner: number
	readonly inAll: number
}

export class Turns<T extends Turn> {
	/** Owners in the order of their turns. */
	readonly #waiting = new Map<string, T[]>()
	readonly #underWay = new Set<string>()
	readonly #limits: TurnLimits
	#size = 0

	constructor(limits: TurnLimits) {
		this.#limits = limits
	}

	/** Returns false when too many wait already. */
	add(turn: T): boolean {
		const { ofOwner, inAll } = this.#limits
		const others = this.#waiting.get(turn.owner) ?? []
		const alike = others.filter(({ isFirst }) => isFirst === turn.isFirst).length
		if (alike >= ofOwner || this.#size >= inAll) return false
		this.#waiting.set(turn.owner, [...others, turn])
		this.#size++
		return true
	}

	/** Takes the next; its owner has no other turn until `done`. */
	next(): T | undefined {
		for (const [owner, turns] of this.#waiting) {
			const turn = turns.find(({ isFirst }) => isFirst) ?? turns[0]
			if (!turn || this.#underWay.has(owner)) continue
			this.remove(turn)
			this.#underWay.add(owner)
			return turn
		}
		return undefined
	}

	/** Lets the owner's others have their turns, after those of the owners that wait. */
	done({ owner }: T): void {
		this.#underWay.delete(owner)
		const others = this.#waiting.get(owner)
		if (!others) return
		this.#waiting.delete(owner)
		this.#waiting.set(owner, others)
	}

	/** Removes one that waits; returns false when it does not wait. */
	remove(turn: T): boolean {
		const turns = this.#waiting.get(turn.owner) ?? []
		const rest = turns.filter((other) => other !== turn)
		if (rest.length === turns.length) return false
		if (rest.length > 0) this.#waiting.set(turn.owner, rest)
		else this.#waiting.delete(turn.owner)
		this.#size--
		return true
	}

	/** Removes all that wait. */
	clear(): T[] {
		const all = [...this.#waiting.values()].flat()
		this.#waiting.clear()
		this.#size = 0
		return all
	}
}
