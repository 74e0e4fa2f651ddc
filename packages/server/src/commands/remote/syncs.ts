// `remit syncs`: runs syncs, and shows how runs go and what failed in them.
import type { Remit, Sync, SyncLinkSummary, SyncRecordError } from '@remit/sdk'
import type { Command } from 'commander'
import { print, UsageError } from '../command.ts'
import { type RemoteOptions, remoteCommand, withServer } from './remote.ts'
import { columns, errorLines, plain } from './text.ts'

export function addSyncCommands(program: Command): void {
	const syncs = program.command('syncs').description('What keeps records at providers and in Remit in step.')

	remoteCommand(syncs, 'list', 'List syncs, with how the last run of each ended.', 'read').action((options: RemoteOptions) =>
		withServer(options, async (remit) => {
			const found: Sync[] = []
			for await (const sync of remit.syncs.list({ limit: 100 })) found.push(sync)
			const rows = found.map(({ id, direction, status, lastRun, nextRunAt, name, statusReason }) => [
				...[id, direction, status, `last run: ${lastRun?.status ?? 'none'}`],
				nextRunAt === null ? 'no next run' : `next ${new Date(nextRunAt).toISOString().slice(0, 16)}Z`,
				...[name, statusReason ?? ''],
			])
			print(options, found, columns(rows).join('\n') || 'None.')
		}),
	)

	remoteCommand(syncs, 'run', 'Run a sync, and show how it goes. A run that is under way already is followed.', 'write')
		.argument('<id>', 'the sync, syn_…')
		.option('--full', 'read everything, and not only what changed')
		.option('--failed', 'only the records that failed before')
		.addHelpText('after', '\nThe exit code is 0 when all records are in step, 2 when some of them failed, and else 1.')
		.action((id: string, options: RemoteOptions & { full?: boolean; failed?: boolean }) =>
			withServer(options, async (remit) => {
				if (options.full && options.failed) throw new UsageError('--full and --failed: choose one')
				const mode = options.full ? 'full' : options.failed ? 'failed' : undefined
				process.exitCode = await (await import('./run-sync.ts')).runSync(remit, id, mode, options)
			}),
		)

	remoteCommand(syncs, 'confirm', 'Let the run that waits delete what it found to be gone, and show how it goes on.', 'admin')
		.argument('<id>', 'the sync, syn_…')
		.action((id: string, options: RemoteOptions) =>
			withServer(options, async (remit) => {
				process.exitCode = await (await import('./run-sync.ts')).confirmRun(remit, id, options)
			}),
		)

	remoteCommand(syncs, 'errors', 'List the records that the last run could not write.', 'read')
		.argument('<id>', 'the sync, syn_…')
		.option('--run <id>', 'another run, run_…')
		.action((id: string, options: RemoteOptions & { run?: string }) =>
			withServer(options, async (remit) => {
				const found: SyncRecordError[] = []
				const runId = options.run ?? (await lastRunOf(remit, id))
				for await (const error of remit.syncs.runs.errors.list(id, runId, { limit: 100 })) found.push(error)
				print(options, found, errorLines(found).join('\n') || 'None.')
			}),
		)

	addLinkCommands(syncs)
}

function addLinkCommands(syncs: Command): void {
	remoteCommand(syncs, 'links', 'List which records of the provider are which of Remit.', 'read')
		.argument('<id>', 'the sync, syn_…')
		.option('--record <id>', 'only the link of this record of Remit')
		.option('--unclear', 'only those of which no answer has said whether the provider has created the record')
		.action((id: string, { record, unclear, ...options }: RemoteOptions & { record?: string; unclear?: boolean }) =>
			withServer(options, async (remit) => {
				const found: SyncLinkSummary[] = []
				const filter = { ...(record !== undefined && { recordId: record }), ...(unclear && { state: 'unclear' as const }) }
				for await (const link of remit.syncs.links.list(id, { ...filter, limit: 100 })) found.push(link)
				const rows = found.map(({ externalId, recordId, state }) => [externalId ?? '-', recordId, state])
				print(options, found, columns(rows).join('\n') || 'None.')
			}),
		)

	remoteCommand(syncs, 'unlink', 'Remove a link. Both records stay; the next run that reads one takes it for new.', 'admin')
		.argument('<id>', 'the sync, syn_…')
		.argument('<externalId>', "the record's id at the provider; of an unclear link the one of Remit's record")
		.action((id: string, externalId: string, options: RemoteOptions) =>
			withServer(options, async (remit) => {
				print(options, await remit.syncs.links.delete(id, externalId), `The link of ${plain(externalId)} is gone.`)
			}),
		)
}

async function lastRunOf(remit: Remit, id: string): Promise<string> {
	const { lastRun } = await remit.syncs.get(id)
	if (!lastRun) throw new UsageError(`The sync ${id} has not run yet.`)
	return lastRun.id
}
