import type { SyncRun } from '@remit/sdk'
import { useState } from 'react'
import { failureOf, usePages } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { count } from '../format/code.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import ConfirmDialog from '../ui/confirm-dialog.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { toast } from '../ui/toast.ts'
import { RecordLink } from './record-link.tsx'
import './syncs.css'

/** So many records would be deleted that a person has to say yes. */
export default function HeldDeletions({ run }: { run: SyncRun }) {
	const { id, syncId } = run
	const { may } = useSession()
	const { rows, total, hasMore, onEnd, failure } = usePages('syncs.runs.deletions.list', { limit: 50 }, { path: [syncId, id] })
	const confirm = useWrite('syncs.runs.confirm')
	const cancel = useWrite('syncs.cancel')
	const [isAsking, setAsking] = useState(false)
	const number = total ?? rows?.length ?? 0
	const trouble = failureOf(confirm) ?? failureOf(cancel)
	return (
		<Card title="Deletions wait for you">
			<p>{run.error?.detail} Nothing is deleted before somebody confirms it.</p>
			{trouble && !isAsking && <ErrorPanel isSmall {...trouble} />}
			<Loaded data={rows} failure={failure} rows={3}>
				{(links) => (
					<>
						<ul className="held">
							{links.map(({ externalId, recordId }) => (
								<li key={recordId}>
									<RecordLink id={recordId} />
									<span className="quiet-text">{externalId}</span>
								</li>
							))}
						</ul>
						{hasMore && (
							<Button isSmall onPress={onEnd}>
								Show more
							</Button>
						)}
					</>
				)}
			</Loaded>
			{may('write') && (
				<div className="error-choices">
					<Button
						isPending={cancel.isPending}
						onPress={() => cancel.mutate([syncId], { onSuccess: () => toast('Nothing was deleted') })}
					>
						Keep them, end the run
					</Button>
					{may('admin') && (
						<Button look="danger" onPress={() => setAsking(true)}>
							Delete {count(number, 'record')}
						</Button>
					)}
				</div>
			)}
			<ConfirmDialog
				title={`Delete ${count(number, 'record')}?`}
				action={`Delete ${count(number, 'record')}`}
				isDangerous
				isOpen={isAsking}
				isPending={confirm.isPending}
				onClose={() => setAsking(false)}
				onConfirm={() =>
					confirm.mutate([syncId, id], {
						onSuccess: () => {
							setAsking(false)
							toast('The run goes on and deletes them')
						},
					})
				}
			>
				<p>Their other side is gone. The run deletes them and then goes on.</p>
				{trouble && <ErrorPanel isSmall {...trouble} />}
			</ConfirmDialog>
		</Card>
	)
}
