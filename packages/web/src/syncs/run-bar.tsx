import type { SyncRun } from '@remit/sdk'
import type { ReactNode } from 'react'
import { useSession } from '../api/session.ts'
import { showDuration } from '../format/code.ts'
import { showAgo, showTime } from '../format/dates.ts'
import { statusOf, words } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Card } from '../ui/card.tsx'
import { isMoving, showRunError } from './words.ts'
import './syncs.css'

const counts = ['read', 'created', 'updated', 'unchanged', 'skipped', 'deleted', 'failed'] as const

/** How far a run is, or how it ended. */
export function RunBar({ run, title, actions }: { run: SyncRun; title: string; actions?: ReactNode }) {
	const { locale, timeZone } = useSession()
	const { label, tone } = statusOf(run.status)
	const { progress, startedAt, finishedAt } = run
	const moves = isMoving(run)
	return (
		<Card title={title} actions={actions}>
			<div className="run-head" aria-live="polite">
				<Badge tone={tone}>{label}</Badge>
				<span className="quiet-text">
					{words(run.mode)}, begun{' '}
					{run.trigger === 'schedule' ? 'by its schedule' : run.trigger === 'webhook' ? 'by the provider' : 'by hand'}{' '}
					<time title={showTime(run.createdAt, locale, timeZone)}>{showAgo(run.createdAt, Date.now())}</time>
					{startedAt && finishedAt ? `, took ${showDuration(finishedAt - startedAt)}` : ''}
				</span>
			</div>
			{moves && (
				<progress
					className="run-progress"
					aria-label="Records read"
					{...(progress.total ? { value: Math.min(progress.read, progress.total), max: progress.total } : {})}
				/>
			)}
			{run.error && run.error.code !== 'too_many_deletions' && (
				<p className={run.status === 'failed' ? 'bad-text' : 'quiet-text'}>
					{showRunError(run.error)}
					{run.waitingUntil ? ` It goes on ${showAgo(run.waitingUntil, Date.now())}.` : ''}
				</p>
			)}
			<dl className="run-counts">
				{counts.map((name) => (
					<div key={name} data-tone={name === 'failed' && progress.failed > 0 ? 'bad' : undefined}>
						<dt>{words(name)}</dt>
						<dd>{name === 'read' && progress.total ? `${progress.read} / ${progress.total}` : progress[name]}</dd>
					</div>
				))}
			</dl>
		</Card>
	)
}
