import type { Sync } from '@remit/sdk'
import { failureOf, usePages } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { RecordErrors } from './record-errors.tsx'
import { isMoving } from './words.ts'

/** The records that no run has written yet; there is no card without any. */
export default function OpenErrors({ sync }: { sync: Sync }) {
	const { may } = useSession()
	const { rows, hasMore, onEnd, failure } = usePages('syncs.errors.list', { limit: 25 }, { path: [sync.id] })
	const retry = useWrite('syncs.run')
	const trouble = failure ?? failureOf(retry)
	if (!trouble && !rows?.length) return null
	return (
		<Card
			title={`Open errors (${Math.max(sync.openErrors, rows?.length ?? 0)})`}
			actions={
				may('write') && (
					<Button
						isSmall
						isPending={retry.isPending}
						isDisabled={isMoving(sync.lastRun)}
						onPress={() => retry.mutate([sync.id, { mode: 'failed' }])}
					>
						Try them again
					</Button>
				)
			}
		>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			{rows && <RecordErrors errors={rows} sourceIsProvider={sync.direction !== 'outbound'} />}
			{hasMore && (
				<div>
					<Button isSmall onPress={onEnd}>
						Show more
					</Button>
				</div>
			)}
		</Card>
	)
}
