import { expect, it } from 'vitest'
import { unavailability } from './database.ts'

it.each([
	['08006 08P01 57P01 57P03 28P01 3D000 ECONNREFUSED ECONNRESET ENOTFOUND ETIMEDOUT', 'The server cannot reach its database'],
	['53300 53200 53400', 'The database has too much to do at the moment'],
	['53100 SQLITE_FULL', 'The disk of the database is full'],
	['25006 SQLITE_READONLY SQLITE_READONLY_DIRECTORY', 'The database can be read only at the moment'],
	['SQLITE_READONLY_DBMOVED', 'The file of the database was moved or deleted'],
	['58030 SQLITE_IOERR SQLITE_IOERR_WRITE SQLITE_CANTOPEN SQLITE_CANTOPEN_ISDIR', 'The database cannot use its disk'],
	['55P03 40001 40P01 SQLITE_BUSY SQLITE_BUSY_SNAPSHOT', 'Another change held for too long what this one needs'],
	['42501', 'The role of the server may not use its database'],
	[
		'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN CERT_HAS_EXPIRED UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID',
		'The server and its database do not agree on TLS',
	],
	['57014', 'The database took too long'],
	['55000 55006 25P03 25P04 72000 F0001 XX000', 'The database cannot do this at the moment'],
	[
		'SQLITE_CORRUPT SQLITE_CORRUPT_INDEX SQLITE_NOTADB XX001 XX002',
		'The file of the database is damaged, or its disk cannot be read',
	],
	['23505 42P01 25P02 22001 SQLITE_CONSTRAINT_UNIQUE SQLITE_ERROR', undefined],
])('the codes %s are: %s', (codes, reason) => {
	for (const code of codes.split(' ')) expect([code, unavailability({ code })]).toEqual([code, reason])
})

it('tells a wait for the changes before from one for a connection', () => {
	const reasonOf = (what: string) => unavailability(new Error(`timeout exceeded when waiting for ${what}`))
	expect(reasonOf('the changes before')).toBe('The changes before this one took too long')
	expect(reasonOf('a connection')).toBe('The database has too much to do at the moment')
})

it('knows the errors of pg that have no code', () => {
	for (const message of [
		'Connection terminated unexpectedly',
		'Connection terminated due to connection timeout',
		'Client has encountered a connection error and is not queryable',
		'Client was closed and is not queryable',
		'Cannot use a pool after calling end on the pool',
		'timeout expired',
	])
		expect([message, unavailability(new Error(message))]).toEqual([message, 'The server cannot reach its database'])
	expect(unavailability(new Error('Query read timeout'))).toBe('The database took too long')
	expect(unavailability(new Error('timeout exceeded when trying to connect'))).toMatch(/cannot reach .*too much to do/)
	expect(unavailability(new Error('Cannot read properties of undefined'))).toBeUndefined()
	expect(unavailability('thrown text')).toBeUndefined()
})
