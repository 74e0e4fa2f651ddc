// `remit jobs`: the work that is due without a request, and what failed of it.
import type { Command } from 'commander'
import { type JobRow, listJobs, retryJobs } from '../work/jobs-store.ts'
import { type CommandContext, command, print, UsageError } from './command.ts'

export function addJobCommands(program: Command, { withDatabase }: CommandContext): void {
	const jobs = program.command('jobs').description('Work that is due without a request.')

	command(jobs, 'list', 'List jobs, those first that are due first.')
		.option('--organization <id>', 'only those of one organization')
		.option('--kind <kind>', 'only those of one kind')
		.option('--failed', 'only those whose last attempt failed')
		.option('--limit <count>', 'how many at most', '100')
		.action((options) =>
			withDatabase(async (db) => {
				const limit = Number(options.limit)
				if (!Number.isSafeInteger(limit) || limit < 1) throw new UsageError(`--limit ${options.limit}: must be a number above 0`)
				const found = await listJobs(db, { ...filterOf(options), ...(options.failed && { isFailed: true }) }, limit)
				print(options, found.map(shown), found.map(line).join('\n') || 'None.')
			}),
		)

	command(jobs, 'retry', 'Make jobs due now whose last attempt failed.')
		.option('--organization <id>', 'only those of one organization')
		.option('--kind <kind>', 'only those of one kind')
		.option('--resource <id>', 'only those of one record')
		.option('--all', 'all of them')
		.action((options) =>
			withDatabase(async (db) => {
				const filter = { ...filterOf(options), ...(options.resource !== undefined && { resourceId: options.resource }) }
				if (Object.keys(filter).length === 0 && !options.all)
					throw new UsageError('Name --organization, --kind or --resource, or say --all.')
				const count = await db.transaction((tx) => retryJobs(tx, filter, Date.now()))
				print(options, { count }, `${count} made due.`)
			}),
		)
}

const filterOf = ({ organization, kind }: { organization?: string; kind?: string }) => ({
	...(organization !== undefined && { organizationId: organization }),
	...(kind !== undefined && { kind }),
})

const shown = ({ checkpoint: _, leaseUntil, dueAt, ...job }: JobRow) => ({
	...job,
	dueAt: timeOf(dueAt),
	leaseUntil: timeOf(leaseUntil),
})

const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

function line(job: JobRow): string {
	const { organizationId, kind, resourceId, dueAt, leaseUntil, attempt, lastError } = job
	const when = leaseUntil === null ? `due ${timeOf(dueAt)}` : `under way until ${timeOf(leaseUntil)} at most`
	const failed = lastError === null ? '' : `  attempt ${attempt}: ${lastError}`
	return [kind, resourceId || '-', organizationId || '-', `${when}${failed}`].join('  ')
}
