# Grouped products: libgrouped.so. On a CPU the product of each group is that of the linear family.
all: $(O)/libgrouped.so
GROUPED_HEADERS := $(LINEAR_HEADERS) fw_grouped.h $(wildcard grouped/*.h)

ifeq ($(DEVICE),cpu)
$(O)/libgrouped.so: $(O)/grouped/module.o $(O)/grouped/cpu.o $(foreach isa,$(ISAS),$(O)/linear/cpu/product.$(isa).o)
	$(CC) -shared -Wl,-z,relro,-z,now,--build-id=none -fopenmp -o $@ $^ -lm
else
$(O)/libgrouped.so: $(O)/grouped/module.o $(O)/grouped/mma.cu.o $(O)/grouped/provider.cu.o
	$(NVCC) -shared -cudart static -Xlinker --build-id=none -o $@ $^ -ldl
$(O)/grouped/%.cu.o: grouped/%.cu $(GROUPED_HEADERS) check-ptxas.sh
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -Xptxas -v -c -o $@ $< 2>$@.log || { cat $@.log >&2; rm -f $@; exit 1; }
	@sh check-ptxas.sh $< $@.log || { rm -f $@; exit 1; }
endif
$(O)/grouped/%.o: grouped/%.c $(GROUPED_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(if $(filter cuda,$(DEVICE)),-DGROUPED_CUDA) -c -o $@ $<
