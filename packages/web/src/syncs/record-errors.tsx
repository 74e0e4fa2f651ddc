import type { ConflictingField, RecordFailure, SyncRecordError, SyncSide } from '@remit/sdk'
import { hasCode } from '../api/errors.ts'
import { failureOf } from '../api/pages.ts'
import { useRefresh, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { count } from '../format/code.ts'
import { showAgo } from '../format/dates.ts'
import { fieldName, words } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Banner } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { LinkByHand } from './link-by-hand.tsx'
import { RecordLink } from './record-link.tsx'
import './syncs.css'

/** Records that could not be written, each with its reason; of a conflict the person chooses a side. */
export const RecordErrors = ({ errors, sourceIsProvider }: { errors: readonly SyncRecordError[]; sourceIsProvider: boolean }) => (
	<ul className="errors">
		{errors.map((error) => (
			<RecordError key={error.id} error={error} sourceIsProvider={sourceIsProvider} />
		))}
	</ul>
)

function RecordError({ error, sourceIsProvider }: { error: SyncRecordError; sourceIsProvider: boolean }) {
	const { may } = useSession()
	const { externalId, recordId, lastFailedAt } = error
	const isOpen = error.resolvedAt === null && may('write')
	const conflict = error.errors.find(({ code }) => code === 'conflict')
	const several = error.errors.find(({ candidates }) => candidates?.length)
	return (
		<li>
			<div className="error-head">
				{recordId ? <RecordLink id={recordId} /> : <strong>New record</strong>}
				{externalId && <span className="quiet-text">{externalId} at the provider</span>}
				<span className="quiet-text">
					failed {showAgo(lastFailedAt, Date.now())}
					{error.count > 1 ? `, in ${count(error.count, 'run')}` : ''}
				</span>
				{error.resolvedAt !== null && <Badge tone="good">Resolved</Badge>}
			</div>
			{error.errors.map((failure) => (
				<Reason key={`${failure.field} ${failure.code}`} failure={failure} />
			))}
			{isOpen && conflict && <Decision error={error} conflict={conflict} sourceIsProvider={sourceIsProvider} />}
			{isOpen && several && <LinkByHand error={error} candidates={several.candidates ?? []} />}
		</li>
	)
}

function Reason({ failure: { field, code, reason, value, differences } }: { failure: RecordFailure }) {
	return (
		<>
			<p>
				<strong>{field ? fieldName(field) : words(code)}</strong>: {reason}
				{value !== undefined && <span className="quiet-text"> (it is “{value}”)</span>}
			</p>
			{differences && differences.length > 0 && <Differences fields={differences} />}
		</>
	)
}

const Differences = ({ fields }: { fields: readonly ConflictingField[] }) => (
	<table className="differences">
		<thead>
			<tr>
				<th scope="col">Field</th>
				<th scope="col">Provider</th>
				<th scope="col">Remit</th>
			</tr>
		</thead>
		<tbody>
			{fields.map(({ field, provider, remit }) => (
				<tr key={field}>
					<th scope="row">{fieldName(field)}</th>
					<td>{provider ?? '–'}</td>
					<td>{remit ?? '–'}</td>
				</tr>
			))}
		</tbody>
	</table>
)

interface DecisionProps {
	readonly error: SyncRecordError
	readonly conflict: RecordFailure
	readonly sourceIsProvider: boolean
}

/** It is about the values that are shown here: where a run has found others since, they are read again and asked about anew. */
function Decision({ error, conflict, sourceIsProvider }: DecisionProps) {
	const resolve = useWrite('syncs.errors.resolve')
	const refresh = useRefresh('syncs')
	const trouble = failureOf(resolve)
	const provider = sourceIsProvider ? 'source' : 'target'
	const sides = [
		{ id: provider, name: 'the provider’s' },
		{ id: sourceIsProvider ? 'target' : 'source', name: 'Remit’s' },
	] as const
	const chosen = sides.find(({ id }) => id === error.decision)
	const decide = (use: SyncSide) => {
		const { version } = conflict
		resolve.mutate([error.syncId, error.id, { use, ...(version !== undefined && { version }) }], {
			onError: () => void refresh(),
		})
	}
	return (
		<>
			{chosen && <p className="quiet-text">Decided: {chosen.name} values win with the next run.</p>}
			{hasCode(resolve.error, 'conflict_changed') ? (
				<Banner>The records have changed since. Above is what they have now: look again, and decide.</Banner>
			) : (
				trouble && <ErrorPanel isSmall {...trouble} />
			)}
			<div className="error-choices">
				{sides
					.filter(({ id }) => id !== error.decision)
					.map(({ id, name }) => (
						<Button key={id} isSmall isPending={resolve.isPending} onPress={() => decide(id)}>
							Use {name}
						</Button>
					))}
			</div>
		</>
	)
}
