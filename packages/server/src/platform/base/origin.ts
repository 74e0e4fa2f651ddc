// Where a change comes from: who asked for it, by what, from where, and when.
import { userInfo } from 'node:os'
import type { EventActor } from '../../generated/contract.ts'

export type Actor = Readonly<EventActor>

export interface Origin {
	readonly actor: Actor
	/** What the actor did: an operation of the contract, a page, a processor's webhook, a command or a job (`AuditEntry`). */
	readonly operation: string
	/** The request that asked for the change; null when no request did. */
	readonly requestId: string | null
	/** The address that the request came from; null when no request asked. */
	readonly address: string | null
	readonly now: number
	/** Counts the bytes that the change stores; absent when nobody asks. */
	readonly meter?: { bytes: number }
}

/** Who made something, as it says for good: a person or the holder of a key, and not the user of a command. */
export const creatorOf = ({ actor }: Origin): Actor | null => (actor.type === 'user' || actor.type === 'api_key' ? actor : null)

/** The origin of a change that Remit makes by itself. */
export const bySystem = (now: number, job = 'system'): Origin => ({
	actor: { type: 'system', id: null },
	operation: job,
	requestId: null,
	address: null,
	now,
})

/** The origin of a change by a command of `remit`, run by the user of this process. */
export const byCommand = (now: number, command: string): Origin => ({
	...bySystem(now, `remit ${command}`),
	actor: { type: 'command', id: userName() },
})

/** Null for a user without a name, such as the number that a container runs as. */
function userName(): string | null {
	try {
		return userInfo().username
	} catch {
		return null
	}
}
