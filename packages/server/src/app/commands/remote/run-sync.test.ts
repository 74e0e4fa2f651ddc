import type { SyncRun } from '@remit/sdk'
import { expect, it } from 'vitest'
import { barOf, lineOf } from './run-sync.ts'
import { columns, plain } from './text.ts'

const run = (progress: Partial<SyncRun['progress']>, more: Partial<SyncRun> = {}) => {
	const nothing = {
		pages: 0,
		bytes: 0,
		read: 0,
		created: 0,
		updated: 0,
		unchanged: 0,
		skipped: 0,
		deleted: 0,
		failed: 0,
		total: null,
	}
	return {
		status: 'running',
		error: null,
		waitingUntil: null,
		finishedAt: null,
		...more,
		progress: { ...nothing, ...progress },
	} as SyncRun
}

it('a run in a line: what it has read, what became of it, and what it waits for', () => {
	expect(lineOf(run({ pages: 1, read: 100, created: 98, failed: 2, bytes: 81_920 }))).toBe(
		'running  100 read  98 created  2 failed  1 page, 81.9 kB',
	)
	expect(lineOf(run({}, { status: 'queued' }))).toBe('queued')
	const waiting = run(
		{ pages: 30, read: 3_000, unchanged: 3_000, total: 9_000, bytes: 2_500_000 },
		{
			status: 'waiting',
			waitingUntil: new Date(2026, 1, 1, 14, 5).getTime(),
			error: { code: 'provider_limit', detail: 'It answered\n429.' },
		},
	)
	expect(lineOf(waiting)).toBe('waiting until 14:05:00  3000 of 9000 read  3000 unchanged  30 pages, 2.5 MB  It answered 429.')
})

it('a bar where the provider says how many there are', () => {
	expect(barOf(run({ read: 5 }))).toBe('')
	expect(barOf(run({ read: 5, total: 20 }))).toBe(`${'█'.repeat(5)}${'░'.repeat(15)} 25 %  `)
	expect(barOf(run({ read: 30, total: 20 }))).toMatch(/^█{20} 100 %/)
	expect(barOf(run({ read: 5, total: 20 }, { finishedAt: 1 }))).toMatch(/^█{20} 100 %/)
})

it('what others wrote stays on its line and moves no cursor', () => {
	expect(plain('a\u001b[2Jb\r\nc\u202ed')).toBe('a [2Jb c d')
	expect(
		columns([
			['a', 'bcd', 'x'],
			['ab', null, ''],
		]),
	).toEqual(['a   bcd   x', 'ab  null'])
})
