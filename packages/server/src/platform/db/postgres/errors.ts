// What PostgreSQL's errors say of a transaction.
import pg from 'pg'

/** PostgreSQL answers the commit of a transaction whose query failed with a rollback, and without an error. */
export class Undone extends Error {}

/** What failed, where it is known. */
export const reasonOf = (error: unknown): unknown => (error instanceof Undone ? (error.cause ?? error) : error)

const codeOf = (error: unknown) => (error instanceof pg.DatabaseError ? (error.code ?? '') : '')

/**
 * Whether an error says that nothing of its transaction is stored, also when it is the answer to the commit: a constraint (class 23), a lost race
 * (40, except 40003, "statement completion unknown"), or a lock that a deferred trigger did not get (55P03). A server that is stopped may
 * say so (57P01) after it has stored the transaction.
 */
export const isUndone = (error: unknown): boolean => error instanceof Undone || /^(23|40(?!003)|55P03)/.test(codeOf(error))

/** Whether an error of a statement for many rows is about a row of an organization: PostgreSQL says so of a row that breaks a rule. */
export function isAboutRowOf(error: unknown, organizationId: string): boolean {
	const { detail, cause } = error as pg.DatabaseError
	return (detail ?? (cause as pg.DatabaseError | undefined)?.detail)?.includes(organizationId) ?? false
}

/** 40001 serialization failure, 40P01 deadlock: the other transaction won, and this one can run again. */
export const isLostRace = (error: unknown): boolean => /^(40001|40P01)$/.test(codeOf(error))

/** Refused in a transaction in which a query has failed: 25P02, and 3B001 for a savepoint that it could no longer set. */
export const isRefused = (error: unknown): boolean => /^(25P02|3B001)$/.test(codeOf(error))

/** Attempts for a change that loses to another. */
export const tries = 5

export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03'

/** After a failover: the server is no longer the primary. */
export const isReadOnly = (error: unknown): boolean => (error as { code?: unknown }).code === readOnly

export const readOnly = '25006'

/** 57014: a query took longer than the time limit. */
export const hasTakenTooLong = (error: unknown): boolean => codeOf(error) === '57014'
