// The sink over real named pipes, which fill up, lose their reader and get another one.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { LogSink } from './sink.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-log-'))
afterAll(() => rmSync(folder, { recursive: true }))

let pipes = 0

/** A pipe whose reader reads only when the test says so. */
function newPipe() {
	const path = join(folder, `pipe-${++pipes}`)
	execFileSync('mkfifo', [path])
	const open = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
	let reader = open()
	const sink = new LogSink(openSync(path, 'w'))
	const read = (): string => {
		const bytes = Buffer.alloc(1024 * 1024)
		try {
			return bytes.toString('utf8', 0, readSync(reader, bytes))
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return ''
			throw error
		}
	}
	/** Reads until `end` has come. */
	const readTo = async (end: string) => {
		let text = ''
		const more = () => {
			text += read()
			return text.endsWith(end)
		}
		await expect.poll(more, { interval: 1, timeout: 5_000 }).toBe(true)
		return text
	}
	const leave = () => closeSync(reader)
	const enter = () => {
		reader = open()
	}
	return { sink, read, readTo, leave, enter }
}

const lineOf = (number: number) => `{"number":${number},"filler":"${'é'.repeat(500)}"}\n`
const parsed = (text: string) =>
	text
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line))

describe('the sink of the log', () => {
	it('writes every line, whole and in order, through a pipe that is smaller than what waits', async () => {
		const { sink, readTo } = newPipe()
		for (let number = 0; number < 1_000; number++) sink.write(lineOf(number))
		const lines = parsed(await readTo(lineOf(999)))
		expect(lines.map(({ number }) => number)).toEqual(Array.from({ length: 1_000 }, (_, number) => number))
	})

	it('writes a single line within a moment', async () => {
		const { sink, readTo } = newPipe()
		sink.write('alone\n')
		expect(await readTo('alone\n')).toBe('alone\n')
	})

	it('drops what a reader that stopped leaves no room for, says in one line how much, and goes on', async () => {
		const { sink, readTo } = newPipe()
		const began = performance.now()
		for (let number = 0; number < 10_000; number++) sink.write(lineOf(number))
		expect(performance.now() - began).toBeLessThan(1_000)
		const text = await readTo('could not be written"}\n')
		sink.write('{"number":-1}\n')
		const lines = [...parsed(text), ...parsed(await readTo('{"number":-1}\n'))]
		const written = lines.slice(0, -2).map(({ number }) => number)
		expect(written).toEqual(written.map((_, number) => number))
		expect(lines.at(-2)).toMatchObject({ level: 40, dropped: 10_000 - written.length })
		expect(written.length).toBeLessThan(3_000)
	})

	it('says how many lines it dropped at the place where they are missing, before any later line', async () => {
		const { sink, read } = newPipe()
		let [text, written, told, gaps] = ['', 0, 0, 0]
		const misplaced: number[] = []
		const write = (count: number) => {
			for (let n = 0; n < count; n++) sink.write(lineOf(written++))
		}
		const take = () => {
			const lines = (text + read()).split('\n')
			text = lines.pop() ?? ''
			for (const { number, dropped } of lines.map((line) => JSON.parse(line))) {
				if (dropped !== undefined) [told, gaps] = [told + dropped, gaps + 1]
				else if (number !== told++) misplaced.push(number)
			}
		}
		write(10_000)
		// Lines go on coming while the reader catches up, so that some come between a drop and the line about it.
		const catchUp = () => {
			take()
			if (gaps < 3) write(100)
			return gaps >= 3 && told === written
		}
		await expect.poll(catchUp, { interval: 1, timeout: 10_000 }).toBe(true)
		expect(misplaced).toEqual([])
	})

	it('outlives its reader, and begins with a whole line for the next one', async () => {
		const { sink, read, readTo, leave, enter } = newPipe()
		for (let number = 0; number < 300; number++) sink.write(lineOf(number))
		await expect.poll(() => read().length, { interval: 1 }).toBeGreaterThan(0)
		leave()
		sink.write(lineOf(300))
		await sink.close()
		enter()
		sink.write(lineOf(301))
		const lines = parsed(await readTo(lineOf(301)))
		expect(lines.every((line) => line.number > 0 || line.dropped > 0)).toBe(true)
	})

	it('gives a reader that stopped a quarter of a second at the end', async () => {
		const { sink } = newPipe()
		for (let number = 0; number < 1_000; number++) sink.write(lineOf(number))
		const began = performance.now()
		await sink.close()
		expect(performance.now() - began).toBeLessThan(2_000)
	})
})
