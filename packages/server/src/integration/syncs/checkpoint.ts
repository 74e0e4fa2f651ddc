// Where a run goes on: it is stored with each part that the run commits.

import type { Sync, SyncRun } from '../../generated/contract.ts'
import type { Trail } from './endless.ts'

export type Phase =
	/** Finds out what became of records that were created at the provider, if an answer was lost: else they would come back as new ones. */
	| 'settle'
	/** Reads the provider. */
	| 'pull'
	/** Deletes in Remit what the provider has no more. */
	| 'pullDeletions'
	/** Writes to the provider. */
	| 'push'
	/** Deletes at the provider what Remit has no more. */
	| 'pushDeletions'

/** What a run takes from its sync when it begins: later changes of the sync are for the next run. */
export type Settings = Pick<
	Sync,
	'mappingId' | 'reverseMappingId' | 'conflictPolicy' | 'deletePolicy' | 'errorPolicy' | 'keepSeen'
>

/** The mappings of a run, in their versions. */
export type Mappings = Pick<Sync, 'mappingId' | 'reverseMappingId'> & Pick<SyncRun, 'mappingVersion' | 'reverseMappingVersion'>

/** A pass that read everything from the provider, to its end, and noted which links it met. */
export interface FullPass {
	readonly runId: string
	readonly startedAt: number
}

export interface Checkpoint {
	readonly settings: Settings
	/** Whether the run reads everything from the provider. */
	readonly isFullPass: boolean
	readonly phase: Phase
	/** Whether this phase goes through all records. */
	readonly isFull: boolean
	/** Only what changed then or later is asked for; null for everything. */
	readonly since: number | null
	/** When the first page was asked for. */
	readonly beganAt: number | null
	/** The page, and how many of its records are done. */
	readonly cursor: string | null
	readonly index: number
	/** The latest change that was read. */
	readonly newest: number | null
	/** The place in the feed of events. */
	readonly place: number | null
	/** When that place was taken: the feed keeps its events for a while only. */
	readonly placedAt: number
	/** The last id, where a phase goes by ids. */
	readonly after: string
	/** The record of the last link of which a caller had decided something, and this phase has done it; null once there are no more. */
	readonly decidedAfter?: string | null
	/** Up to where a push has looked for links whose record of Remit is gone. */
	readonly marked?: string | null
	/** The full pass of the sync before this run, when it noted what it read. */
	readonly passBefore?: FullPass
	/** The mappings by which all links were last compared, where they said something else. */
	readonly mappedBefore?: Mappings
	/** The run of the sync before this one; empty for none. */
	readonly runBefore?: string
	/** Whether the provider has listed all that this pass asks for. */
	readonly isListed?: boolean
	/** How many records the provider has listed. */
	readonly listed: number
	/** What is remembered of the pages of a list, to tell one without end. */
	readonly trail?: Trail | null
	/** How often the list was begun anew, since the provider did not know a place in it any more. */
	readonly restarts?: number
	/** The errors that the log has of the run: it names each once. */
	readonly told?: readonly string[]
	/** Failures in a row. */
	readonly tries: number
	/** Records in a row that were left as errors since the provider failed with each. */
	readonly givenUp?: number
	/** Whether somebody has let the run delete many records. */
	readonly isConfirmed: boolean
}

/** What each phase begins with. */
export const beginning = {
	isFull: false,
	since: null,
	beganAt: null,
	cursor: null,
	index: 0,
	newest: null,
	after: '',
	decidedAfter: '',
	listed: 0,
	tries: 0,
	isConfirmed: false,
} as const
