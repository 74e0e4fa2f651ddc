// `remit syncs`: runs syncs, and shows how runs go and what failed in them.
import type { Sync, SyncLinkSummary, SyncRecordError } from '@remit/sdk'
import type { Command } from 'commander'
import { print, UsageError } from '../command.ts'
import { type RemoteOptions, remoteCommand, withServer } from './remote.ts'
import { addChangeCommands } from './sync-changes.ts'
import { addDecisionCommands } from './sync-decisions.ts'
import { columns, errorLines } from './text.ts'

export function addSyncCommands(program: Command): void {
	const syncs = program.command('syncs').description('What keeps records at providers and in Remit in step.')

	remoteCommand(syncs, 'list', 'List syncs, with how the last run of each ended.', 'read').action((options: RemoteOptions) =>
		withServer(options, async (remit) => {
			const found: Sync[] = []
			for await (const sync of remit.syncs.list({ limit: 100 })) found.push(sync)
			const rows = found.map(({ id, direction, status, lastRun, openErrors, nextRunAt, name, statusReason }) => [
				...[
					id,
					direction,
					status,
					`last run: ${lastRun?.status ?? 'none'}${openErrors === 0 ? '' : `, open errors: ${openErrors}`}`,
				],
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

	remoteCommand(syncs, 'deletions', 'List what the run that waits would delete, by the ids at the provider and in Remit.', 'read')
		.argument('<id>', 'the sync, syn_…')
		.action((id: string, options: RemoteOptions) =>
			withServer(options, async (remit) => {
				const runId = await (await import('./run-sync.ts')).lastRunOf(remit, id)
				const found: SyncLinkSummary[] = []
				for await (const link of remit.syncs.runs.deletions.list(id, runId, { limit: 100 })) found.push(link)
				const rows = found.map(({ externalId, recordId }) => [externalId ?? '-', recordId])
				print(options, found, columns(rows).join('\n') || 'None.')
			}),
		)

	remoteCommand(
		syncs,
		'confirm',
		'Let the run that waits delete what it found to be gone, and show how it goes on. cancel says no.',
		'admin',
	)
		.argument('<id>', 'the sync, syn_…')
		.action((id: string, options: RemoteOptions) =>
			withServer(options, async (remit) => {
				process.exitCode = await (await import('./run-sync.ts')).confirmRun(remit, id, options)
			}),
		)

	remoteCommand(syncs, 'errors', 'List the records that have failed and were not written since.', 'read')
		.argument('<id>', 'the sync, syn_…')
		.option('--run <id>', 'those of a run, run_…')
		.action((id: string, options: RemoteOptions & { run?: string }) =>
			withServer(options, async (remit) => {
				const found: SyncRecordError[] = []
				const { errors, runs } = remit.syncs
				const pages = options.run ? runs.errors.list(id, options.run, { limit: 100 }) : errors.list(id, { limit: 100 })
				for await (const error of pages) found.push(error)
				print(options, found, errorLines(found, true).join('\n') || 'None.')
			}),
		)

	addChangeCommands(syncs)
	addDecisionCommands(syncs)
}
