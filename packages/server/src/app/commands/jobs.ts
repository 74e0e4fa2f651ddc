// `remit jobs`: the work that is due without a request, and what failed of it.

import type { Command } from 'commander'
import type { SyncRun } from '../../generated/contract.ts'
import type { Db } from '../../platform/db/database.ts'
import { type JobRow, listJobs, retryJobs } from '../../platform/work/jobs-store.ts'
import { jobKinds } from '../../platform/work/kinds.ts'
import { type CommandContext, command, print, UsageError } from './command.ts'

const kinds: readonly string[] = Object.values(jobKinds)

const kindHelp = `only those of one kind: ${kinds.join(', ')}`

/** A kind that nothing has may be misspelt. A database may have those of another version: they are found while there are any. */
function requireKind(kind: string | undefined): void {
	if (kind !== undefined && !kinds.includes(kind)) throw new UsageError(`--kind ${kind}: it is one of ${kinds.join(', ')}`)
}

export function addJobCommands(program: Command, { withDatabase }: CommandContext): void {
	const jobs = program.command('jobs').description('Work that is due without a request.')

	command(jobs, 'list', 'List jobs, those first that are due first.')
		.option('--organization <id>', 'only those of one organization')
		.option('--kind <kind>', kindHelp)
		.option('--failed', 'only those whose last attempt failed')
		.option('--limit <count>', 'how many at most', '100')
		.action((options) =>
			withDatabase(async (db) => {
				const limit = Number(options.limit)
				if (!Number.isSafeInteger(limit) || limit < 1) throw new UsageError(`--limit ${options.limit}: must be a number above 0`)
				const found = await listJobs(db, { ...filterOf(options), ...(options.failed && { isFailed: true }) }, limit)
				if (found.length === 0) requireKind(options.kind)
				const listed = await Promise.all(found.map(async (job) => ({ ...job, ...(await runOf(db, job)) })))
				print(options, listed.map(shown), listed.map(line).join('\n') || 'None.')
			}),
		)

	command(jobs, 'retry', 'Make jobs due now whose last attempt failed.')
		.option('--organization <id>', 'only those of one organization')
		.option('--kind <kind>', kindHelp)
		.option('--resource <id>', 'only those of one record')
		.option('--all', 'all of them')
		.action((options) =>
			withDatabase(async (db, now) => {
				const filter = { ...filterOf(options), ...(options.resource !== undefined && { resourceId: options.resource }) }
				if (Object.keys(filter).length === 0 && !options.all)
					throw new UsageError('Name --organization, --kind or --resource, or say --all.')
				const count = await db.transaction((tx) => retryJobs(tx, filter, now()))
				if (count === 0) requireKind(options.kind)
				print(options, { count }, `${count} made due.`)
			}),
		)
}

const filterOf = ({ organization, kind }: { organization?: string; kind?: string }) => ({
	...(organization !== undefined && { organizationId: organization }),
	...(kind !== undefined && { kind }),
})

type Listed = JobRow & { readonly run?: Pick<SyncRun, 'status' | 'error'> }

/** What a job of a run of a sync waits for: such a job does not fail. */
async function runOf(db: Db, { kind, organizationId, resourceId }: JobRow): Promise<Pick<Listed, 'run'>> {
	if (kind !== jobKinds.syncRun) return {}
	const { runs } = await import('../../integration/doors.ts')
	const run = await runs.find(db, organizationId, resourceId)
	return run ? { run: { status: run.status, error: run.error } } : {}
}

const shown = ({ checkpoint: _, leaseUntil, dueAt, ...job }: Listed) => ({
	...job,
	dueAt: timeOf(dueAt),
	leaseUntil: timeOf(leaseUntil),
})

const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

function line(job: Listed): string {
	const { organizationId, kind, resourceId, dueAt, leaseUntil, attempt, lastError, run } = job
	const when = leaseUntil === null ? `due ${timeOf(dueAt)}` : `under way until ${timeOf(leaseUntil)} at most`
	const of = run ? `  ${run.status}${run.error ? `: ${run.error.code}` : ''}` : ''
	const failed = lastError === null ? '' : `  attempt ${attempt}: ${lastError}`
	return [kind, resourceId || '-', organizationId || '-', `${when}${failed}${of}`].join('  ')
}
