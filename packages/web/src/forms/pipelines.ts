import type { Pipeline, Stage } from '@remit/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { type Failure, failureOf } from '../api/pages.ts'
import { list } from '../api/query.ts'
import { type Status, words } from '../format/names.ts'

/** The pipelines of the organization, the oldest first: new deals go there. */
export function usePipelines(): { pipelines: readonly Pipeline[] | undefined; failure: Failure | undefined } {
	const query = useInfiniteQuery({ ...list('pipelines.list', { limit: 100 }), staleTime: 60_000 })
	return { pipelines: query.data?.pages[0]?.rows.toReversed(), failure: failureOf(query) }
}

const tones = { open: 'accent', won: 'good', lost: 'plain' } as const

/** A deal's stage in words. */
export function stageOf(pipelines: readonly Pipeline[] | undefined, deal: { pipelineId: string; stage: string }): Status {
	const found = pipelines?.find(({ id }) => id === deal.pipelineId)?.stages.find(({ key }) => key === deal.stage)
	return { label: found?.label ?? words(deal.stage), tone: tones[found?.type ?? 'open'] }
}

export const otherStages = (pipeline: Pipeline | undefined, stage: string): readonly Stage[] =>
	pipeline?.stages.filter(({ key }) => key !== stage) ?? []
