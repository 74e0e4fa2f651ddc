// What requests to a fake vendor meet instead of, or besides, their answer.
import fc from 'fast-check'

export type Fault =
	/** `retryAfter` in seconds; `problem` is the limit that Xero names. */
	| { readonly kind: 'rate_limited'; readonly retryAfter?: number; readonly problem?: 'minute' | 'day' | 'appminute' }
	| { readonly kind: 'error'; readonly status: 500 | 502 | 503 | 504; readonly retryAfter?: number }
	/** The connection ends before anything is done. */
	| { readonly kind: 'cut' }
	/** The connection ends after the work is done, without an answer. */
	| { readonly kind: 'lost' }
	/** The connection ends in the middle of the answer. */
	| { readonly kind: 'cut_in_body' }
	/** A whole answer with half of its JSON. */
	| { readonly kind: 'truncated' }
	/** A page for browsers, with status 200. */
	| { readonly kind: 'html' }
	/** The answer comes so much later. */
	| { readonly kind: 'slow'; readonly ms: number }
	/** Access tokens that can be refreshed are valid no more. */
	| { readonly kind: 'token_expired' }
	/** The place in the list that the request names is not known any more. */
	| { readonly kind: 'cursor_expired' }
	/** A record of the page before has just changed, and stands where the order of the list puts it. */
	| { readonly kind: 'moved' }
	/** The last record of the page before stands on this page again. */
	| { readonly kind: 'duplicate' }

export type FaultKind = Fault['kind']

/** What the first, second … request meets; null: nothing. After its end nothing goes wrong. */
export type FaultPlan = Iterable<Fault | null>

const retryAfter = fc.option(fc.constantFrom(0, 1), { nil: undefined })

const arbitraries: { readonly [Kind in FaultKind]: fc.Arbitrary<Extract<Fault, { kind: Kind }>> } = {
	rate_limited: fc.record({
		kind: fc.constant('rate_limited'),
		retryAfter,
		problem: fc.constantFrom('minute' as const, 'appminute' as const),
	}),
	error: fc.record({ kind: fc.constant('error'), status: fc.constantFrom(500, 502, 503, 504), retryAfter }),
	cut: fc.constant({ kind: 'cut' }),
	lost: fc.constant({ kind: 'lost' }),
	cut_in_body: fc.constant({ kind: 'cut_in_body' }),
	truncated: fc.constant({ kind: 'truncated' }),
	html: fc.constant({ kind: 'html' }),
	slow: fc.record({ kind: fc.constant('slow'), ms: fc.integer({ min: 1, max: 50 }) }),
	token_expired: fc.constant({ kind: 'token_expired' }),
	cursor_expired: fc.constant({ kind: 'cursor_expired' }),
	moved: fc.constant({ kind: 'moved' }),
	duplicate: fc.constant({ kind: 'duplicate' }),
}

export const faultKinds = Object.keys(arbitraries) as FaultKind[]

export interface FaultChoice {
	/** How many requests the plan is for. */
	readonly length?: number
	/** How many of a hundred requests meet a fault. */
	readonly percent?: number
	readonly kinds?: readonly FaultKind[]
}

const entry = ({ percent = 20, kinds = faultKinds }: FaultChoice): fc.Arbitrary<Fault | null> =>
	fc.oneof(
		{ weight: 100 - percent, arbitrary: fc.constant(null) },
		{ weight: percent, arbitrary: fc.oneof(...kinds.map((kind) => arbitraries[kind])) },
	)

/** Plans for property tests; they shrink to fewer faults. */
export const faultPlans = (choice: FaultChoice = {}): fc.Arbitrary<(Fault | null)[]> =>
	fc.array(entry(choice), { maxLength: choice.length ?? 50 })

/** The plan of a seed, always the same one. */
export const planOf = (seed: number, choice: FaultChoice = {}): (Fault | null)[] =>
	fc.sample(entry(choice), { seed, numRuns: choice.length ?? 200 })

/** The same fault until another plan is set. */
export function* always(fault: Fault): Generator<Fault> {
	while (true) yield fault
}
