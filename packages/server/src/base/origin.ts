// Where a change comes from: who asked for it, by which request, and when.
import type { EventActor } from '../generated/contract.ts'

export type Actor = Readonly<EventActor>

export interface Origin {
	readonly actor: Actor
	/** The request that asked for the change; null when no request did. */
	readonly requestId: string | null
	readonly now: number
}

/** The origin of a change that Remit makes by itself. */
export const bySystem = (now: number): Origin => ({ actor: { type: 'system', id: null }, requestId: null, now })
