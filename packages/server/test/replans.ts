// No statement of the server is planned again each time that it runs (platform/db/statements.ts says when SQLite does that). Whatever a server under
// test runs is run on an empty database, with values that stay bound and with values that are bound anew: when the difference is about
// what it costs to prepare it, it is planned again.
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { Statements } from '../src/platform/db/statements.ts'

const prepared = new Set<string>()

/** Notes every statement with parameters that servers on SQLite run from now on. */
export function watchStatements(): void {
	const { compile } = Statements.prototype
	Statements.prototype.compile = function (query, params) {
		const compiled = compile.call(this, query as never, params)
		const { source } = compiled.statement as { source?: string }
		if (source?.includes('?')) prepared.add(source)
		return compiled
	}
}

/** The statements since the last call, but those that this or another process has taken already, which `folder` remembers. */
export function takeStatements(folder: string): string[] {
	mkdirSync(folder, { recursive: true })
	const taken = [...prepared]
	prepared.clear()
	return taken.filter((sql) => isFirst(join(folder, createHash('sha256').update(sql).digest('hex'))))
}

function isFirst(file: string): boolean {
	try {
		writeFileSync(file, '', { flag: 'wx' })
		return true
	} catch {
		return false
	}
}

/** Those of the statements that are planned at every run. `template` has the tables. */
export function findReplanned(template: string, statements: readonly string[]): string[] {
	const file = `${template}-replans-${process.pid}`
	copyFileSync(template, file)
	const db = new Sqlite(file)
	db.pragma('foreign_keys = off')
	// Other work on the machine makes a run look dear, but not three times.
	const found = statements.filter((sql) => [1, 2, 3].every(() => isReplanned(db, sql)))
	db.close()
	for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
	return found
}

function isReplanned(db: Sqlite.Database, sql: string): boolean {
	const count = sql.replace(/'[^']*'/g, '').split('?').length - 1
	// Numbers, texts and JSON at once.
	const [one, other] = ['1', '2'].map((value) => Array<string>(count).fill(value)) as [string[], string[]]
	const bound = db.prepare(sql).bind(one)
	const unbound = db.prepare(sql)
	db.exec('begin')
	const inTurns = (statement: Sqlite.Statement, given: readonly string[][]) =>
		least(20, () => {
			for (const values of given) run(statement, values)
		})
	const withoutPlan = inTurns(bound, [[], []])
	const anew = inTurns(unbound, [one, other])
	db.exec('rollback')
	// To bind 50 values twice costs up to a third of a plan.
	return anew - withoutPlan > least(10, () => db.prepare(sql)) * 0.7
}

function run(statement: Sqlite.Statement, values: readonly string[]): void {
	try {
		statement.reader ? statement.all(...values) : statement.run(...values)
	} catch {
		// A value that the table refuses, which SQLite finds out after it has planned.
	}
}

function least(times: number, work: () => void): number {
	let found = Number.POSITIVE_INFINITY
	for (let turn = 0; turn < times; turn++) {
		const began = performance.now()
		work()
		found = Math.min(found, performance.now() - began)
	}
	return found
}
