import type { SyncRun } from '@remit/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { isMoving } from './words.ts'

/**
 * Reads again what the page shows of syncs when a run has ended since it was read. A short run may have ended before the page reads it
 * for the first time: `isOvertaken` says that something on the page still has it under way.
 */
export function useRefreshAtEnd(run: SyncRun | undefined, isOvertaken = false): void {
	const client = useQueryClient()
	const seen = useRef<string>(undefined)
	const state = run && (isMoving(run) ? 'moving' : run.id)
	useEffect(() => {
		if (state === undefined) return
		const hasChanged = seen.current !== undefined && seen.current !== state
		seen.current = state
		if (state !== 'moving' && (hasChanged || isOvertaken)) void client.invalidateQueries({ queryKey: ['syncs'] })
	}, [client, state, isOvertaken])
}
