import type { Deal, Stage } from '@remit/sdk'
import { type InfiniteData, useMutation, useQueryClient } from '@tanstack/react-query'
import { useOnePress } from '../api/one-press.ts'
import { call } from '../api/query.ts'
import { toast } from '../ui/toast.ts'

type Pages = InfiniteData<{ rows: Deal[] }>

/** Moves a deal to a stage: shown at once, taken back when the server refuses, with Undo in the notice. */
export function useMove() {
	const client = useQueryClient()
	const show = (id: string, stage: string) => {
		client.setQueriesData<Pages>(
			{ queryKey: ['deals', 'list'] },
			(data) =>
				data && {
					...data,
					pages: data.pages.map((page) => ({
						...page,
						rows: page.rows.map((deal) => (deal.id === id ? { ...deal, stage } : deal)),
					})),
				},
		)
		client.setQueryData<Deal>(['deals', 'get', id], (deal) => deal && { ...deal, stage })
	}
	const refresh = () => Promise.all(['deals', 'search'].map((key) => client.invalidateQueries({ queryKey: [key] })))
	const once = useOnePress()
	const { mutateAsync, error, reset } = useMutation({
		mutationFn: ({ deal, stage, isUndo }: { deal: Deal; stage: Stage; isUndo?: boolean }) =>
			call('deals.update', deal.id, { stage: stage.key }, isUndo ? {} : { ifMatch: deal.version }),
		onMutate: async ({ deal, stage }) => {
			await client.cancelQueries({ queryKey: ['deals'] })
			show(deal.id, stage.key)
		},
		onSettled: refresh,
	})
	// What failed is in `error`.
	const mutate = (...sent: Parameters<typeof mutateAsync>) =>
		void once(JSON.stringify(sent[0]), () => mutateAsync(...sent)).catch(() => {})
	const move = (deal: Deal, stage: Stage, from: Stage | undefined) => {
		if (stage.key === deal.stage) return
		mutate(
			{ deal, stage },
			{
				onSuccess: () =>
					toast(
						`${deal.name} is in ${stage.label}`,
						from && { label: 'Undo', onPress: () => mutate({ deal, stage: from, isUndo: true }) },
					),
				onError: () => show(deal.id, deal.stage),
			},
		)
	}
	return { move, error, reset }
}
