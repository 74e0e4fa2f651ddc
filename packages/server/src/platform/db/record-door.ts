// How records are read and written by contexts that do not know them. The context that owns a kind exports its door, and the app hands
// the doors to those that move records.
import type { EventType } from '../../generated/contract.ts'
import type { Origin } from '../base/origin.ts'
import type { Db } from './database.ts'
import type { WriteContext } from './write-context.ts'

/** Fields of a record by their names. */
export type Fields = Readonly<Record<string, unknown>>

/** A record as a GET answers it. */
export type Shown = Fields & { readonly id: string; readonly updatedAt: number }

/** For whom a record is read, and when. */
export interface Reading extends Pick<WriteContext, 'organization'> {
	readonly origin: Origin
}

/** A record that was read with `lock`. */
export interface Locked {
	readonly shown: Shown
	change(input: Fields): Promise<Shown>
	remove(): Promise<void>
}

export interface RecordDoor {
	find(db: Db, reading: Reading, id: string): Promise<Shown | undefined>
	/** The newest records, at most `limit`. */
	newest(db: Db, reading: Reading, limit: number): Promise<Shown[]>
	lock(write: WriteContext, id: string): Promise<Locked | undefined>
	create(write: WriteContext, input: Fields): Promise<Shown>
	/** Brings a deleted record back, locked; undefined when there is none. Absent where what is deleted is gone for good. */
	restore?(write: WriteContext, id: string): Promise<Locked | undefined>
	/** Throws the error with which `create` would reject the input, as far as it can be known without a write. */
	tryCreate(write: WriteContext, input: Fields): Promise<void>
	/** A record before and after a change that is not written; undefined when there is no such record. */
	tryChange(write: WriteContext, id: string, input: Fields): Promise<{ before: Fields; after: Fields } | undefined>
	/** The events that say that a record changed. */
	readonly events: readonly EventType[]
}

/** The kinds of records that have a door. */
export type RecordKind = 'company' | 'invoice'

export type RecordDoors = Readonly<Record<RecordKind, RecordDoor>>
