import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { query } from './database.ts'
import { openSqlite } from './sqlite.ts'

let file: string
beforeEach(() => {
	const folder = mkdtempSync(join(tmpdir(), 'remit-sqlite-'))
	file = join(folder, 'remit.db')
	return () => rmSync(folder, { recursive: true })
})

const page = 4_096
const create = query<object>((knex) => knex.raw('create table notes (id integer primary key, text text)'))
const insert = query<{ text: string }>((knex, { text }) => knex('notes').insert({ text }))
const count = query<object, { count: number }>((knex) => knex('notes').count('* as count'))

describe('the log of a database that is written without a pause', () => {
	it('starts again at its beginning, however fast it grows, and is gone when the database is closed', async () => {
		const db = openSqlite(file)
		await db.transaction((tx) => tx.run(create, {}))
		const text = 'x'.repeat(25 * page)
		let longest = 0
		for (let n = 0; n < 5_000; n++) {
			await db.transaction((tx) => tx.run(insert, { text }), { durable: false })
			longest = Math.max(longest, statSync(`${file}-wal`).size)
		}
		expect(await db.get(count, {})).toEqual({ count: 5_000 })
		// The test writes 500 MB; how short the log stays depends on the load of the machine.
		expect(longest).toBeLessThan(400_000_000)
		await db.close()
		expect(existsSync(`${file}-wal`)).toBe(false)
	})
})
