// What calls say of the health of their connection: as a test does, and seldom, since calls are many.

import type { Connection } from '../../generated/contract.ts'
import { bySystem } from '../../platform/base/origin.ts'
import type { Database } from '../../platform/db/database.ts'
import { columnsOf, type Outcome } from './probe.ts'
import { changeConnection } from './store.ts'
import { lockTokenRow, type TokenRow } from './token-store.ts'

/** How old the time of the last success may be. */
const successMs = 5 * 60_000

/** Stores what an outcome says, where it is news. */
export async function recordOutcome(db: Database, now: number, tested: TokenRow, outcome: Outcome): Promise<void> {
	if (!isNews(tested.connection, outcome, now)) return
	await db.transaction(async (tx) => {
		const current = await lockTokenRow(tx, tested.connection)
		// What a caller changed meanwhile was not called.
		if (!current || current.connection.status === 'disabled' || current.tokenGeneration !== tested.tokenGeneration) return
		if (!isNews(current.connection, outcome, now)) return
		const origin = bySystem(now, 'connections.calls')
		await changeConnection({ db: tx, origin }, current.connection, columnsOf(current.connection, outcome, now))
	}, tested.connection)
}

function isNews(stored: Connection, outcome: Outcome, now: number): boolean {
	// The server lacks a key, which says nothing of the connection.
	if ('error' in outcome && outcome.error.code === 'credentials_lost') return false
	if (columnsOf(stored, outcome, now).status !== stored.status) return true
	if ('error' in outcome) return false
	const isNamed = outcome.account !== null && outcome.account.externalId !== stored.account?.externalId
	return isNamed || stored.lastSuccessAt === null || now - stored.lastSuccessAt > successMs
}
