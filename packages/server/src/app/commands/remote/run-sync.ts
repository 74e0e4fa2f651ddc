// Runs a sync and shows it: a line that is written again and again on a terminal, else a line for each change.
import { ConflictError, type Remit, type SyncRun, type SyncRunPromise } from '@remit/sdk'
import { UsageError } from '../command.ts'
import type { RemoteOptions } from './remote.ts'
import { errorLines, plain } from './text.ts'

const shownErrors = 10

type Mode = 'full' | 'failed' | undefined

/** Returns the exit code. */
export const runSync = async (remit: Remit, id: string, mode: Mode, options: RemoteOptions) =>
	follow(remit, id, await begin(remit, id, mode), options)

/** Lets the run go on that waits for somebody to confirm its deletions; returns the exit code. */
export async function confirmRun(remit: Remit, id: string, options: RemoteOptions): Promise<number> {
	return follow(remit, id, remit.syncs.runs.confirm(id, await lastRunOf(remit, id)), options)
}

/** The id of the run that waits, if one does. */
export async function lastRunOf(remit: Remit, id: string): Promise<string> {
	const { lastRun } = await remit.syncs.get(id)
	if (!lastRun) throw new UsageError(`The sync ${id} has not run yet.`)
	return lastRun.id
}

type Followed = Pick<SyncRunPromise, 'progress'>

async function follow(remit: Remit, id: string, followed: Followed, options: RemoteOptions): Promise<number> {
	const show = options.json ? () => {} : process.stdout.isTTY ? showOnTerminal() : (run: SyncRun) => console.log(lineOf(run))
	let last: SyncRun | undefined
	for await (const run of followed.progress()) {
		last = run
		show(run)
		if (waitsForSomebody(run)) break
	}
	if (!last) return 1
	if (!options.json && process.stdout.isTTY) process.stdout.write('\n')
	const { data, meta } = await remit.syncs.runs.errors.list(id, last.id, { limit: shownErrors })
	if (options.json) console.log(JSON.stringify({ ...last, errors: data }))
	else {
		for (const line of errorLines(data)) console.log(`  ${line}`)
		const more = (meta.total ?? 0) - data.length
		if (more > 0) console.log(`  and ${more} more: remit syncs errors ${id}`)
		if (waitsForSomebody(last)) for (const line of waysOn(id, last)) console.log(line)
	}
	return last.status === 'succeeded' ? 0 : last.status === 'partially_succeeded' ? 2 : 1
}

/** The run, as a promise that can be followed; in an object, since it would be awaited by itself. */
async function begin(remit: Remit, id: string, mode: Mode): Promise<Followed> {
	const begun = remit.syncs.run(id, mode && { mode })
	try {
		await begun
		return { progress: () => begun.progress() }
	} catch (error) {
		if (!(error instanceof ConflictError) || error.code !== 'sync_already_running') throw error
		if (mode) throw new UsageError(`${plain(error.detail)} --${mode} has to wait for its end.`)
		const { lastRun } = await remit.syncs.get(id)
		return { progress: () => remit.syncs.runs.get(id, lastRun?.id ?? '').progress() }
	}
}

const waitsForSomebody = ({ status, error }: SyncRun) =>
	status === 'waiting' && (error?.code === 'too_many_deletions' || error?.code === 'paused')

const waysOn = (id: string, { error }: SyncRun): string[] =>
	error?.code === 'paused'
		? ['Resume the sync first.']
		: [
				`To see them: remit syncs deletions ${id}`,
				`To delete them: remit syncs confirm ${id}`,
				`To delete nothing: remit syncs cancel ${id}`,
			]

const counted = ['created', 'updated', 'unchanged', 'skipped', 'deleted', 'failed'] as const

export function lineOf({ status, progress, error, waitingUntil }: SyncRun): string {
	const { pages, bytes, read, total } = progress
	const isBegun = pages + read > 0
	const counts = counted.flatMap((name) => (progress[name] > 0 ? [`${progress[name]} ${name}`] : []))
	const until = waitingUntil === null ? '' : ` until ${new Date(waitingUntil).toTimeString().slice(0, 8)}`
	return [
		`${status}${until}`,
		...(isBegun ? [`${total === null ? read : `${read} of ${total}`} read`] : []),
		...counts,
		...(isBegun ? [`${pages} ${pages === 1 ? 'page' : 'pages'}, ${sizeOf(bytes)}`] : []),
		...(error ? [plain(error.detail)] : []),
	].join('  ')
}

const sizeOf = (bytes: number) => (bytes < 100_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`)

const barWidth = 20

/** A bar where the provider says how many records there are. */
export function barOf({ progress: { read, total }, finishedAt }: SyncRun): string {
	if (total === null || total === 0) return ''
	const done = finishedAt === null ? Math.min(read / total, 1) : 1
	const full = Math.round(done * barWidth)
	return `${'█'.repeat(full)}${'░'.repeat(barWidth - full)} ${Math.floor(done * 100)} %  `
}

function showOnTerminal(): (run: SyncRun) => void {
	const clearLine = '\r\u001b[2K'
	return (run) => {
		// A line that is longer than the terminal is wide cannot be written again.
		const room = (process.stdout.columns || 80) - 1
		const line = barOf(run) + lineOf(run)
		process.stdout.write(clearLine + (run.finishedAt === null ? line.slice(0, room) : line))
	}
}
