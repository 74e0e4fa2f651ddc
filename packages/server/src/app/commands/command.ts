// What the commands of `remit` share.
import type { Command } from 'commander'
import type { Database } from '../../platform/db/database.ts'

/** The settings that commands read; every one of the server's is there. */
export interface CommandSettings {
	readonly DATA_DIR: string
	readonly DATABASE_URL: string
	readonly DATABASE_POOLER: 'none' | 'transaction'
	readonly ENCRYPTION_KEYS: string
	readonly BASE_URL: string
	readonly HOST: string
	readonly PORT: number
}

/** What a command does with the database. */
export type DatabaseWork = (db: Database, now: () => number) => Promise<void>

/** What commands get from the program: they cannot read the environment themselves. */
export interface CommandContext {
	settings(): CommandSettings
	/**
	 * Runs the work on the database, by the clock that its servers go by, and closes it. A new database gets its tables; one of an older
	 * version is refused.
	 */
	withDatabase(work: DatabaseWork): Promise<void>
}

/** A mistake in the command line, in one sentence. */
export class UsageError extends Error {
	exitCode = 1
}

export const command = (parent: Command, name: string, description: string): Command =>
	parent.command(name).description(description).option('--json', 'print machine-readable output')

export function print(options: { json?: boolean }, value: unknown, text: string): void {
	console.log(options.json ? JSON.stringify(value) : text)
}
