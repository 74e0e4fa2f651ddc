// Places whose holders wait for somebody outside most of the time: who has waited for a moment lends its place to others, so that those
// whose far end never answers take none from those who could work.
import { FairRoom, type Shares } from './shares.ts'

/** How long a place is kept for who waits: a thousand who hang, all for the first time, have had the places of four within seconds. */
export const graceMs = 25

/** How many may wait without a place. Each costs a socket and some 30 KB. */
const mostLent = 1_000

export interface Loan {
	readonly isLent: boolean
	/** Resolves once the holder has a place again. */
	back(): Promise<void>
	/** Gives up the place, lent or not. */
	leave(): void
}

export class Lending {
	readonly #shares: Shares
	readonly #lent: FairRoom
	readonly #whenLent: () => void

	constructor(shares: Shares, { most = mostLent, whenLent = () => {} }: { most?: number; whenLent?: () => void } = {}) {
		this.#shares = shares
		this.#lent = new FairRoom(most)
		this.#whenLent = whenLent
	}

	/** Lends the place of a holder after a while, unless too many are lent. */
	lend(organizationId: string, afterMs: number): Loan {
		let isLent = false
		const give = () => {
			if (this.#lent.of(organizationId) === 0) return
			isLent = true
			this.#lent.begin(organizationId)
			this.#shares.leave(organizationId)
			this.#whenLent()
		}
		const timer = afterMs > 0 ? setTimeout(give, afterMs) : give()
		return this.#loan(
			organizationId,
			() => isLent,
			() => clearTimeout(timer ?? undefined),
		)
	}

	/** As if a place had been lent at once; undefined when too many are. */
	waitWithout(organizationId: string): Loan | undefined {
		if (this.#lent.of(organizationId) === 0) return undefined
		this.#lent.begin(organizationId)
		return this.#loan(
			organizationId,
			() => true,
			() => {},
		)
	}

	#loan(organizationId: string, isLent: () => boolean, end: () => void): Loan {
		let returned: Promise<void> | undefined
		const takeBack = async () => {
			end()
			if (!isLent()) return
			await new Promise<void>((admit) => this.#shares.enter(organizationId, admit))
			this.#lent.end(organizationId)
		}
		return {
			get isLent() {
				return isLent()
			},
			back() {
				returned ??= takeBack()
				return returned
			},
			leave: () => {
				end()
				if (isLent()) this.#lent.end(organizationId)
				else this.#shares.leave(organizationId)
			},
		}
	}
}
